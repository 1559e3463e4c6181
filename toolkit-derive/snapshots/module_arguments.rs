static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("F."));
        __metadata.tags = texts(&["a", "b"]);
        __metadata
    },
    namespace: Option::Some("files"),
    ..sync_entry::<
        __Tool,
    >(
        "files:f",
        "f",
        location(
            file!(),
            line!(),
            column!(),
        ),
        input::<NoArguments>,
    )
};
