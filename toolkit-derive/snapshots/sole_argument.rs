#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
/// Forecast for a city.
fn forecast(query: Query) -> Result<Forecast, WeatherError> {
    todo(query)
}
#[doc(hidden)]
#[allow(
    dead_code,
    deprecated,
    unused_imports,
    private_interfaces,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    unused_parens,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::nursery
)]
const forecast_is_not_a_tool_add_tool_attribute_vnfiftepmblqfhvmbmfmeoiqijwpyj: ::toolkit::__private::Linked<
    Query,
    Result<Forecast, WeatherError>,
> = {
    use ::toolkit::__private as __toolkit;
    use __toolkit::names::*;
    static __SOLE: __toolkit::Sole = __toolkit::Sole::new(
        "query",
        "",
        __toolkit::SoleType::<Query>::IS_STRUCT,
    );
    type __Owned_query = <__toolkit::Pick<
        { !__toolkit::Candidate::<Query>::BORROWS },
    > as __toolkit::OrStandIn<Query>>::Type;
    type __Field_query = <__Fits_query as __toolkit::OrStandIn<Query>>::Type;
    type __Fits_query = __toolkit::Case<
        {
            __toolkit::argument_case(
                __toolkit::Candidate::<Query>::BORROWS,
                __toolkit::Candidate::<__Owned_query>::SHARES,
                __toolkit::Candidate::<__Owned_query>::IS_READ,
                __toolkit::Candidate::<__Owned_query>::IS_DESCRIBED,
                __toolkit::Candidate::<__Owned_query>::IS_SENT,
            )
        },
    >;
    const _: ((), (), (), (), (), ()) = (
        <<__Fits_query as __toolkit::Refused<
            Query,
        >>::Borrows as __toolkit::OwnedArgument>::OK,
        <<__Fits_query as __toolkit::Refused<
            Query,
        >>::Both as __toolkit::ToolArgument>::OK,
        <<__Fits_query as __toolkit::Refused<
            Query,
        >>::NotConverted as __toolkit::DeserializeArgument>::OK,
        <<__Fits_query as __toolkit::Refused<
            Query,
        >>::NotDescribed as __toolkit::DescribeArgument>::OK,
        <<__Fits_query as __toolkit::Refused<
            Query,
        >>::NotSent as __toolkit::SendArgument>::OK,
        <<__Fits_query as __toolkit::Refused<
            Query,
        >>::Shares as __toolkit::UnsharedArgument>::OK,
    );
    const _: ((), (), ()) = (
        <<__Result as __toolkit::Refused<__Output>>::Both as __toolkit::ToolResult>::OK,
        <<__Result as __toolkit::Refused<
            __Output,
        >>::NotConverted as __toolkit::SerializeResult>::OK,
        <<__Result as __toolkit::Refused<
            __Output,
        >>::NotDescribed as __toolkit::DescribeResult>::OK,
    );
    struct __Tool;
    type __Output = <__Tool as __toolkit::Function>::Output;
    type __Result = __toolkit::Case<
        {
            __toolkit::result_case(
                __toolkit::Shape::<__Output>::KIND,
                __toolkit::Data::<__Output>::IS_WRITTEN,
                __toolkit::Data::<__Output>::IS_DESCRIBED,
            )
        },
    >;
    impl __toolkit::Function for __Tool {
        type Input = Query;
        type Arguments = <__Fits_query as __toolkit::OrStandIn<Query>>::Type;
        type Returned = Result<Forecast, WeatherError>;
        type Output = <__toolkit::Pick<
            { __toolkit::Returned::<Result<Forecast, WeatherError>>::FALLIBLE },
        > as __toolkit::Succeeds<Result<Forecast, WeatherError>>>::Output;
        type Encoding = __toolkit::Returns<
            { __Result::encoding(__toolkit::Shape::<__Output>::KIND) },
        >;
        fn input(
            __arguments: <__Fits_query as __toolkit::OrStandIn<Query>>::Type,
        ) -> Query {
            <__Fits_query as __toolkit::OrStandIn<Query>>::take(__arguments)
        }
        fn finish(
            __returned: Result<Forecast, WeatherError>,
        ) -> __toolkit::Result<Self::Output, __toolkit::ToolError> {
            match __toolkit::Returned(__returned).split() {
                __toolkit::Ok(__value) => __toolkit::Ok(__value),
                __toolkit::Err(__error) => {
                    __toolkit::Err(
                        (&&&&__toolkit::ErrorOf::new(&__error))
                            .convert_by()
                            .convert(__error),
                    )
                }
            }
        }
    }
    impl __toolkit::SyncFunction for __Tool {
        fn call(
            __input: Self::Input,
            __host: __toolkit::Host<'_>,
        ) -> __toolkit::Result<Result<Forecast, WeatherError>, __toolkit::ToolError> {
            __toolkit::Ok(forecast(__input))
        }
    }
    static __ENTRY: __toolkit::Entry = __toolkit::Entry {
        metadata: || {
            let mut __metadata = __toolkit::Metadata::NONE;
            __metadata.description = __toolkit::Option::Some(
                __toolkit::text("Forecast for a city."),
            );
            __metadata
        },
        sole: __toolkit::Option::Some(&__SOLE),
        ..__toolkit::sync_entry::<
            __Tool,
        >(
            "forecast",
            "forecast",
            __toolkit::location(
                __toolkit::file!(),
                __toolkit::line!(),
                __toolkit::column!(),
            ),
            || __toolkit::sole_input::<
                <__Fits_query as __toolkit::OrStandIn<Query>>::Type,
            >(&__SOLE),
        )
    };
    __toolkit::inventory::submit! {
        & __ENTRY
    }
    __toolkit::sync_linked::<__Tool>(&__ENTRY)
};
