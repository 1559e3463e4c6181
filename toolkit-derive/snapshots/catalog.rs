fn f() {
    ::toolkit::only_valid_inside_a_function! {
        { const _ : () =
        ::toolkit::__private::not_in(a_is_not_a_tool_add_tool_attribute_dbmoskkgtpufulflpzitcaz
        .entry(), & []); const _ : () =
        ::toolkit::__private::not_in(b::c_is_not_a_tool_add_tool_attribute_igesqwjwtbuazokniatbvrk
        .entry(), & [a_is_not_a_tool_add_tool_attribute_dbmoskkgtpufulflpzitcaz
        .entry()]); const _ : () = ::toolkit::__private::not_in(crate ::Notes:: < Memory
        > ::d_is_not_a_tool_add_tool_attribute_ktpodmicxvyevksfsqqylzj.entry(), &
        [a_is_not_a_tool_add_tool_attribute_dbmoskkgtpufulflpzitcaz.entry(),
        b::c_is_not_a_tool_add_tool_attribute_igesqwjwtbuazokniatbvrk.entry()]);
        ::toolkit::__private::catalog_of(&
        [a_is_not_a_tool_add_tool_attribute_dbmoskkgtpufulflpzitcaz.entry(),
        b::c_is_not_a_tool_add_tool_attribute_igesqwjwtbuazokniatbvrk.entry(), crate
        ::Notes:: < Memory > ::d_is_not_a_tool_add_tool_attribute_ktpodmicxvyevksfsqqylzj
        .entry()]) }
    };
}
