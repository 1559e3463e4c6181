static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("Deletes."));
        __metadata.deprecated = Option::Some(text("use `remove`"));
        __metadata.execution.task_support = Option::Some(
            TaskSupport::Optional,
        );
        __metadata
    },
    ..async_entry::<
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
