#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
/// Forecast for a city.
async fn forecast(city: String, ctx: &Context, db: &Db) -> Forecast {
    db.forecast(city, ctx).await
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
const forecast_is_not_a_tool_add_tool_attribute_vnfiftepmblqfhvmbmfmeoiqijwpyj: ::tk::__private::Linked<
    String,
    Forecast,
> = {
    use ::tk::__private as __toolkit;
    use __toolkit::names::*;
    #[derive(__toolkit::serde::Deserialize, __toolkit::schemars::JsonSchema)]
    #[serde(crate = ":: tk :: __private :: serde")]
    #[schemars(crate = ":: tk :: __private :: schemars")]
    struct __Arguments {
        city: __Field_city,
    }
    type __Owned_city = <__toolkit::Pick<
        { !__toolkit::Candidate::<String>::BORROWS },
    > as __toolkit::OrStandIn<String>>::Type;
    type __Field_city = <__Fits_city as __toolkit::OrStandIn<String>>::Type;
    type __Fits_city = __toolkit::Case<
        {
            __toolkit::argument_case(
                __toolkit::Candidate::<String>::BORROWS,
                __toolkit::Candidate::<__Owned_city>::SHARES,
                __toolkit::Candidate::<__Owned_city>::IS_READ,
                __toolkit::Candidate::<__Owned_city>::IS_DESCRIBED,
                __toolkit::Candidate::<__Owned_city>::IS_SENT,
            )
        },
    >;
    const _: ((), (), (), (), (), ()) = (
        <<__Fits_city as __toolkit::Refused<
            String,
        >>::Borrows as __toolkit::OwnedArgument>::OK,
        <<__Fits_city as __toolkit::Refused<
            String,
        >>::Both as __toolkit::ToolArgument>::OK,
        <<__Fits_city as __toolkit::Refused<
            String,
        >>::NotConverted as __toolkit::DeserializeArgument>::OK,
        <<__Fits_city as __toolkit::Refused<
            String,
        >>::NotDescribed as __toolkit::DescribeArgument>::OK,
        <<__Fits_city as __toolkit::Refused<
            String,
        >>::NotSent as __toolkit::SendArgument>::OK,
        <<__Fits_city as __toolkit::Refused<
            String,
        >>::Shares as __toolkit::UnsharedArgument>::OK,
    );
    const _: () = <Context as __toolkit::State>::OK;
    const _: () = <Db as __toolkit::State>::OK;
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
        type Input = String;
        type Arguments = __Arguments;
        type Returned = Forecast;
        type Output = <__toolkit::Pick<
            { __toolkit::Returned::<Forecast>::FALLIBLE },
        > as __toolkit::Succeeds<Forecast>>::Output;
        type Encoding = __toolkit::Returns<
            { __Result::encoding(__toolkit::Shape::<__Output>::KIND) },
        >;
        fn input(__arguments: __Arguments) -> String {
            <__Fits_city as __toolkit::OrStandIn<String>>::take(__arguments.city)
        }
        fn finish(
            __returned: Forecast,
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
    impl __toolkit::AsyncFunction for __Tool {
        fn call<'a>(
            __input: Self::Input,
            __host: __toolkit::Host<'a>,
        ) -> impl __toolkit::Future<
            Output = __toolkit::Result<Forecast, __toolkit::ToolError>,
        > + __toolkit::Send + 'a {
            async move {
                __toolkit::Ok(
                    forecast(
                            __input,
                            __toolkit::Borrowed::<Context>::from_host(__host)?,
                            __toolkit::Borrowed::<Db>::from_host(__host)?,
                        )
                        .await,
                )
            }
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
        timeout: __toolkit::Option::Some(__toolkit::Duration::from_millis(30000u64)),
        states: &[
            __toolkit::Borrowed::<Context>::STATE,
            __toolkit::Borrowed::<Db>::STATE,
        ],
        ..__toolkit::async_entry::<
            __Tool,
        >(
            "forecast",
            "forecast",
            __toolkit::location(
                __toolkit::file!(),
                __toolkit::line!(),
                __toolkit::column!(),
            ),
            __toolkit::input::<__Arguments>,
        )
    };
    __toolkit::inventory::submit! {
        & __ENTRY
    }
    __toolkit::async_linked::<__Tool>(&__ENTRY)
};
