static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("Deletes."));
        __metadata.deprecated = Option::Some(
            text("do not use it"),
        );
        __metadata.meta = Option::Some(
            literal("{\"ui\":{\"resourceUri\":\"ui://a\"}} "),
        );
        __metadata
    },
    version: Option::Some("1.0.0"),
    ..sync_entry::<
        __Tool,
    >(
        "delete",
        "delete",
        location(
            file!(),
            line!(),
            column!(),
        ),
        input::<NoArguments>,
    )
};
