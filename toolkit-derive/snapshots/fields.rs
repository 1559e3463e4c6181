fn __default_type() -> __Field_type {
    <__Fits_type as OrStandIn<
        Kind,
    >>::put(|| <Kind as Default>::default())
}
fn __default_days() -> __Field_days {
    <__Fits_days as OrStandIn<
        Option<u8>,
    >>::put(|| ArgumentDefault::<Option<u8>>::into_default(3))
}
fn __default_unit() -> Unit {
    ArgumentDefault::<Unit>::into_default("x")
}
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = ":: toolkit :: __private :: serde")]
#[schemars(crate = ":: toolkit :: __private :: schemars")]
struct __Arguments {
    /**The city.
# Hidden?*/
    #[serde(rename = "place", alias = "town", alias = "village")]
    #[schemars(length(min = 1))]
    city: __Field_city,
    #[serde(default = "__default_type")]
    r#type: __Field_type,
    #[doc = include_str!("days.md")]
    #[serde(default = "__default_days")]
    days: __Field_days,
    #[serde(with = "w")]
    #[serde(default = "__default_unit")]
    unit: Unit,
    names: __Field_names,
}
impl Function for __Tool {
    type Input = (
        <&'static str as ::toolkit::__private::BorrowedArgument>::Owned,
        Kind,
        Option<u8>,
        Unit,
        <Option<&'static [String]> as ::toolkit::__private::BorrowedArgument>::Owned,
    );
    type Arguments = __Arguments;
    type Returned = Result<(), E>;
    type Output = <Pick<
        { Returned::<Result<(), E>>::FALLIBLE },
    > as Succeeds<Result<(), E>>>::Output;
    type Encoding = Returns<
        { __Result::encoding(Shape::<__Output>::KIND) },
    >;
    fn input(
        __arguments: __Arguments,
    ) -> (
        <&'static str as ::toolkit::__private::BorrowedArgument>::Owned,
        Kind,
        Option<u8>,
        Unit,
        <Option<&'static [String]> as ::toolkit::__private::BorrowedArgument>::Owned,
    ) {
        (
            <__Fits_city as OrStandIn<
                <&'static str as ::toolkit::__private::BorrowedArgument>::Owned,
            >>::take(__arguments.city),
            <__Fits_type as OrStandIn<Kind>>::take(__arguments.r#type),
            <__Fits_days as OrStandIn<Option<u8>>>::take(__arguments.days),
            __arguments.unit,
            <__Fits_names as OrStandIn<
                <Option<
                    &'static [String],
                > as ::toolkit::__private::BorrowedArgument>::Owned,
            >>::take(__arguments.names),
        )
    }
    fn finish(
        __returned: Result<(), E>,
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
impl SyncFunction for __Tool {
    fn call(
        __input: Self::Input,
        __host: Host<'_>,
    ) -> Result<Result<(), E>, ToolError> {
        Ok(
            forecast(
                <&'static str as BorrowedArgument>::borrow(&__input.0),
                __input.1,
                __input.2,
                __input.3,
                Borrowed::<Db>::from_host(__host)?,
                <Option<
                    &'static [String],
                > as BorrowedArgument>::borrow(&__input.4),
            ),
        )
    }
}
static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("F."));
        __metadata
    },
    states: &[Borrowed::<Db>::STATE],
    ..sync_entry::<
        __Tool,
    >(
        "forecast",
        "forecast",
        location(
            file!(),
            line!(),
            column!(),
        ),
        || with_aliases(
            input::<__Arguments>(),
            &[("place", &["town", "village"])],
        ),
    )
};
