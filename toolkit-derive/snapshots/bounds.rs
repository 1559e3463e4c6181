#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = ":: toolkit :: __private :: serde")]
#[schemars(crate = ":: toolkit :: __private :: schemars")]
struct __Arguments {
    a: __Field_a,
    b: __Field_b,
    c: __Field_c,
    d: __Field_d,
    e: __Field_e,
    #[schemars(extend("x" = [<u8>::LAST, "< u8 >::x", "a::S::x"]), with = "< u8 >::x")]
    f: [u8; 3],
}
impl Function for __Tool {
    type Input = (
        <u8 as Store>::Item,
        <Vec<u8>>::Item,
        <Vec<u8> as A>::Item,
        <C>::Item,
        a::S,
        [u8; 3],
    );
    type Arguments = __Arguments;
    type Returned = Result<u8, <Vec<u8>>::Error>;
    type Output = <Pick<
        { Returned::<Result<u8, <Vec<u8>>::Error>>::FALLIBLE },
    > as Succeeds<Result<u8, <Vec<u8>>::Error>>>::Output;
    type Encoding = Returns<
        { __Result::encoding(Shape::<__Output>::KIND) },
    >;
    fn input(
        __arguments: __Arguments,
    ) -> (
        <u8 as Store>::Item,
        <Vec<u8>>::Item,
        <Vec<u8> as A>::Item,
        <C>::Item,
        a::S,
        [u8; 3],
    ) {
        (
            <__Fits_a as OrStandIn<<u8 as Store>::Item>>::take(__arguments.a),
            <__Fits_b as OrStandIn<<Vec<u8>>::Item>>::take(__arguments.b),
            <__Fits_c as OrStandIn<
                <Vec<u8> as A>::Item,
            >>::take(__arguments.c),
            <__Fits_d as OrStandIn<<C>::Item>>::take(__arguments.d),
            <__Fits_e as OrStandIn<a::S>>::take(__arguments.e),
            __arguments.f,
        )
    }
    fn finish(
        __returned: Result<u8, <Vec<u8>>::Error>,
    ) -> Result<Self::Output, ToolError> {
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
