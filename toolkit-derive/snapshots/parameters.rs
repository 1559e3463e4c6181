#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
/// Adds two integers.
pub fn add(a: i64, b: i64) -> i64 {
    a + b
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
pub const add_is_not_a_tool_add_tool_attribute_alunhdikoxslcblsqfxvjxcnx: ::toolkit::__private::Linked<
    (i64, i64),
    i64,
> = {
    use ::toolkit::__private as __toolkit;
    use __toolkit::names::*;
    #[derive(__toolkit::serde::Deserialize, __toolkit::schemars::JsonSchema)]
    #[serde(crate = ":: toolkit :: __private :: serde")]
    #[schemars(crate = ":: toolkit :: __private :: schemars")]
    struct __Arguments {
        ///First addend.
        a: __Field_a,
        #[serde(default)]
        b: __Field_b,
    }
    type __Owned_a = <__toolkit::Pick<
        { !__toolkit::Candidate::<i64>::BORROWS },
    > as __toolkit::OrStandIn<i64>>::Type;
    type __Field_a = <__Fits_a as __toolkit::OrStandIn<i64>>::Type;
    type __Fits_a = __toolkit::Case<
        {
            __toolkit::argument_case(
                __toolkit::Candidate::<i64>::BORROWS,
                __toolkit::Candidate::<__Owned_a>::SHARES,
                __toolkit::Candidate::<__Owned_a>::IS_READ,
                __toolkit::Candidate::<__Owned_a>::IS_DESCRIBED,
                __toolkit::Candidate::<__Owned_a>::IS_SENT,
            )
        },
    >;
    const _: ((), (), (), (), (), ()) = (
        <<__Fits_a as __toolkit::Refused<i64>>::Borrows as __toolkit::OwnedArgument>::OK,
        <<__Fits_a as __toolkit::Refused<i64>>::Both as __toolkit::ToolArgument>::OK,
        <<__Fits_a as __toolkit::Refused<
            i64,
        >>::NotConverted as __toolkit::DeserializeArgument>::OK,
        <<__Fits_a as __toolkit::Refused<
            i64,
        >>::NotDescribed as __toolkit::DescribeArgument>::OK,
        <<__Fits_a as __toolkit::Refused<i64>>::NotSent as __toolkit::SendArgument>::OK,
        <<__Fits_a as __toolkit::Refused<
            i64,
        >>::Shares as __toolkit::UnsharedArgument>::OK,
    );
    type __Owned_b = <__toolkit::Pick<
        { !__toolkit::Candidate::<i64>::BORROWS },
    > as __toolkit::OrStandIn<i64>>::Type;
    type __Field_b = <__Fits_b as __toolkit::OrStandIn<i64>>::Type;
    type __Fits_b = __toolkit::Case<
        {
            __toolkit::argument_case(
                __toolkit::Candidate::<i64>::BORROWS,
                __toolkit::Candidate::<__Owned_b>::SHARES,
                __toolkit::Candidate::<__Owned_b>::IS_READ,
                __toolkit::Candidate::<__Owned_b>::IS_DESCRIBED,
                __toolkit::Candidate::<__Owned_b>::IS_SENT,
            )
        },
    >;
    const _: ((), (), (), (), (), ()) = (
        <<__Fits_b as __toolkit::Refused<i64>>::Borrows as __toolkit::OwnedArgument>::OK,
        <<__Fits_b as __toolkit::Refused<i64>>::Both as __toolkit::ToolArgument>::OK,
        <<__Fits_b as __toolkit::Refused<
            i64,
        >>::NotConverted as __toolkit::DeserializeArgument>::OK,
        <<__Fits_b as __toolkit::Refused<
            i64,
        >>::NotDescribed as __toolkit::DescribeArgument>::OK,
        <<__Fits_b as __toolkit::Refused<i64>>::NotSent as __toolkit::SendArgument>::OK,
        <<__Fits_b as __toolkit::Refused<
            i64,
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
        type Input = (i64, i64);
        type Arguments = __Arguments;
        type Returned = i64;
        type Output = <__toolkit::Pick<
            { __toolkit::Returned::<i64>::FALLIBLE },
        > as __toolkit::Succeeds<i64>>::Output;
        type Encoding = __toolkit::Returns<
            { __Result::encoding(__toolkit::Shape::<__Output>::KIND) },
        >;
        fn input(__arguments: __Arguments) -> (i64, i64) {
            (
                <__Fits_a as __toolkit::OrStandIn<i64>>::take(__arguments.a),
                <__Fits_b as __toolkit::OrStandIn<i64>>::take(__arguments.b),
            )
        }
        fn finish(
            __returned: i64,
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
        ) -> __toolkit::Result<i64, __toolkit::ToolError> {
            __toolkit::Ok(add(__input.0, __input.1))
        }
    }
    static __ENTRY: __toolkit::Entry = __toolkit::Entry {
        metadata: || {
            let mut __metadata = __toolkit::Metadata::NONE;
            __metadata.description = __toolkit::Option::Some(
                __toolkit::text("Adds two integers."),
            );
            __metadata.tags = __toolkit::texts(&["arithmetic"]);
            __metadata.annotations.read_only = __toolkit::Option::Some(true);
            __metadata
        },
        namespace: __toolkit::Option::Some("math"),
        version: __toolkit::Option::Some("1.0.0"),
        ..__toolkit::sync_entry::<
            __Tool,
        >(
            "math:add:1.0.0",
            "add",
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
    __toolkit::sync_linked::<__Tool>(&__ENTRY)
};
