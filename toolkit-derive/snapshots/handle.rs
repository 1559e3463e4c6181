fn f() {
    ::tk::only_valid_inside_a_function! {
        { #[allow(unused_imports)] use ::tk::__private:: { Convert as _, Failing as _,
        Plain as _ };
        ::tk::__private::Linked::handle(a::b_is_not_a_tool_add_tool_attribute_atdwnsxxivoqczshbugqzme,
        | __returned | match ::tk::__private::Returned(__returned).split() {
        ::tk::__private::Ok(__value) => ::tk::__private::Ok(__value),
        ::tk::__private::Err(__error) => ::tk::__private::Err((&& &&
        ::tk::__private::ErrorOf::new(& __error)).convert_by().convert(__error)), }) }
    };
}
