impl SyncFunction for __Tool {
    fn call(
        __input: Self::Input,
        __host: Host<'_>,
    ) -> Result<(), ToolError> {
        Ok(
            translate(
                __input.0,
                __input.1,
                <&'static str as BorrowedArgument>::borrow(&__input.2),
            ),
        )
    }
}
static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(
            text("Translates a text."),
        );
        __metadata.tags = texts(&["a"]);
        __metadata.annotations.read_only = Option::Some(true);
        __metadata
    },
    namespace: Option::Some("text"),
    prompt: Option::Some(&["into", "text"]),
    ..sync_entry::<
        __Tool,
    >(
        "text:translate",
        "translate",
        location(
            file!(),
            line!(),
            column!(),
        ),
        || with_aliases(
            input::<__Arguments>(),
            &[("into", &["to"])],
        ),
    )
};
