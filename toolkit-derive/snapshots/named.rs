#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = ":: toolkit :: __private :: serde")]
#[schemars(crate = ":: toolkit :: __private :: schemars")]
struct __Arguments {
    a: __Field_a,
}
impl Function for __Tool {
    type Input = A;
    type Arguments = __Arguments;
    type Returned = ();
    type Output = <Pick<
        { Returned::<()>::FALLIBLE },
    > as Succeeds<()>>::Output;
    type Encoding = Returns<
        { __Result::encoding(Shape::<__Output>::KIND) },
    >;
    fn input(__arguments: __Arguments) -> A {
        <__Fits_a as OrStandIn<A>>::take(__arguments.a)
    }
    fn finish(__returned: ()) -> Result<Self::Output, ToolError> {
        match Returned(__returned).split() {
            Ok(__value) => Ok(__value),
            Err(__error) => {
                Err(
                    (&&&&ErrorOf::new(&__error)).convert_by().convert(__error),
                )
            }
        }
    }
}
impl SyncFunction for __Tool {
    fn call(
        __input: Self::Input,
        __host: Host<'_>,
    ) -> Result<(), ToolError> {
        Ok(f(__input, Borrowed::<B>::from_host(__host)?))
    }
}
