const _: () = {
    impl ::tk::__private::Registered for Full {}
    impl ::tk::ShowError for Full {}
    ::tk::__private::inventory::submit! {
        ::tk::__private::ShownType::new:: < Full > ()
    }
};
