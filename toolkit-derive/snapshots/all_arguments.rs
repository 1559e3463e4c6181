static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(
            text({
                const __TEXT: &'static ::toolkit::__private::str = concat!(
                    "Lists ", "orders."
                );
                const _: () = ::toolkit::__private::assert!(
                    ! __TEXT.trim_ascii().is_empty(),
                    "the description is empty; a model reads it to decide whether to call the tool"
                );
                __TEXT
            }),
        );
        __metadata.title = Option::Some(
            text({
                const __TEXT: &'static str = TITLE;
                __TEXT
            }),
        );
        __metadata.category = Option::Some(text("orders"));
        __metadata.deprecated = Option::Some(text("use `orders`"));
        __metadata.meta = Option::Some(
            literal(
                "{\"ui\":{\"resourceUri\":\"ui://sales/chart.html\"},\"a\":[\"b\\\"c d\\u000a\",-1,true,null]}",
            ),
        );
        __metadata.tags = texts(&["order-items", "b"]);
        __metadata.examples = vec![
            literal("{\"a\":1}"), literal({ const __TEXT : &
            'static str = EXAMPLE; __TEXT })
        ];
        __metadata.icons = vec![
            icon("https://example.com/a.png", Option::None, & [],
            Option::None), icon("b",
            Option::Some("image/png"), & ["48x48"],
            Option::Some("dark"))
        ];
        __metadata.requirements = requirements(
            vec![
                Authorization::new(text("google"),
                texts(& ["calendar"]))
            ],
            vec![Secret::new(text("KEY"))],
            texts(&["files"]),
            true,
        );
        __metadata.annotations.read_only = Option::Some(false);
        __metadata.annotations.destructive = Option::Some(true);
        __metadata.annotations.idempotent = Option::Some(true);
        __metadata.annotations.open_world = Option::Some(false);
        __metadata.execution.task_support = Option::Some(
            TaskSupport::Required,
        );
        __metadata
    },
    namespace: Option::Some("shop"),
    version: Option::Some("1.2.0"),
    requires: true,
    show_errors: true,
    enforce_formats: true,
    aliases: &["shop:orders", "orders"],
    timeout: Option::Some(Duration::from_millis(120000u64)),
    ..blocking_entry::<
        __Tool,
    >(
        "shop:list:1.2.0",
        "list",
        location(
            file!(),
            line!(),
            column!(),
        ),
        input::<__Arguments>,
    )
};
