impl Notebook {
    #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
    /// Counts.
    fn count(&self) -> Self {
        self.0
    }
    fn other(&self) {}
}
impl Notebook {
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
    const count_is_not_a_tool_add_tool_attribute_xvpzwehhdodgokapywxrwdsbowj: ::toolkit::__private::Linked<
        (),
        Notebook,
    > = {
        use ::toolkit::__private as __toolkit;
        use __toolkit::names::*;
        const _: () = <Notebook as __toolkit::State>::OK;
        const _: ((), (), ()) = (
            <<__Result as __toolkit::Refused<
                __Output,
            >>::Both as __toolkit::ToolResult>::OK,
            <<__Result as __toolkit::Refused<
                __Output,
            >>::NotConverted as __toolkit::SerializeResult>::OK,
            <<__Result as __toolkit::Refused<
                __Output,
            >>::NotDescribed as __toolkit::DescribeResult>::OK,
        );
        const _: () = <<__toolkit::Pick<
            { __toolkit::Shape::<__Output>::KIND == __toolkit::CHUNKS },
        > as __toolkit::OrStandIn<__Output>>::Type as __toolkit::BlockingResult>::OK;
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
            type Input = ();
            type Arguments = __toolkit::NoArguments;
            type Returned = Notebook;
            type Output = <__toolkit::Pick<
                { __toolkit::Returned::<Notebook>::FALLIBLE },
            > as __toolkit::Succeeds<Notebook>>::Output;
            type Encoding = __toolkit::Returns<
                { __Result::encoding(__toolkit::Shape::<__Output>::KIND) },
            >;
            fn input(__arguments: __toolkit::NoArguments) -> () {
                {}
            }
            fn finish(
                __returned: Notebook,
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
            ) -> __toolkit::Result<Notebook, __toolkit::ToolError> {
                __toolkit::Ok(
                    <Notebook>::count(
                        __toolkit::Borrowed::<Notebook>::from_host(__host)?,
                    ),
                )
            }
        }
        static __ENTRY: __toolkit::Entry = __toolkit::Entry {
            metadata: || {
                let mut __metadata = __toolkit::Metadata::NONE;
                __metadata.description = __toolkit::Option::Some(
                    __toolkit::text("Counts."),
                );
                __metadata
            },
            namespace: __toolkit::Option::Some("notes"),
            states: &[__toolkit::Borrowed::<Notebook>::STATE],
            ..__toolkit::blocking_entry::<
                __Tool,
            >(
                "notes:count",
                "count",
                __toolkit::location(
                    __toolkit::file!(),
                    __toolkit::line!(),
                    __toolkit::column!(),
                ),
                __toolkit::input::<__toolkit::NoArguments>,
            )
        };
        __toolkit::inventory::submit! {
            & __ENTRY
        }
        __toolkit::sync_linked::<__Tool>(&__ENTRY)
    };
}
