fn __default_at() -> __Field_at {
    <__Fits_at as OrStandIn<
        Memory,
    >>::put(|| ArgumentDefault::<Memory>::into_default(<Memory>::LAST))
}
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = ":: toolkit :: __private :: serde")]
#[schemars(crate = ":: toolkit :: __private :: schemars")]
struct __Arguments {
    item: __Field_item,
    #[serde(with = "< Notes < Memory > >::format")]
    to: Option<Notes<Memory>>,
    #[serde(default = "__default_at")]
    at: __Field_at,
}
impl SyncFunction for __Tool {
    fn call(
        __input: Self::Input,
        __host: Host<'_>,
    ) -> Result<Vec<Memory>, ToolError> {
        Ok(
            <Notes<
                Memory,
            >>::append(
                Borrowed::<Notes<Memory>>::from_host(__host)?,
                __input.0,
                __input.1,
                __input.2,
            ),
        )
    }
}
static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("Appends."));
        __metadata.title = Option::Some(
            text({
                const __TEXT: &'static str = <Notes<Memory>>::TITLE;
                __TEXT
            }),
        );
        __metadata.tags = texts(&["a", "c"]);
        __metadata.annotations.destructive = Option::Some(true);
        __metadata
    },
    namespace: Option::Some("notes"),
    version: Option::Some("1.0.0"),
    timeout: Option::Some(Duration::from_millis(3000u64)),
    states: &[Borrowed::<Notes<Memory>>::STATE],
    ..sync_entry::<
        __Tool,
    >(
        "notes:append:1.0.0",
        "append",
        location(
            file!(),
            line!(),
            column!(),
        ),
        input::<__Arguments>,
    )
};
impl AsyncFunction for __Tool {
    fn call<'a>(
        __input: Self::Input,
        __host: Host<'a>,
    ) -> impl Future<
        Output = Result<String, ToolError>,
    > + Send + 'a {
        async move { Ok(<Notes<Memory>>::ask(__input).await) }
    }
}
static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("Asks."));
        __metadata.tags = texts(&["a", "c"]);
        __metadata.annotations.read_only = Option::Some(true);
        __metadata
    },
    namespace: Option::Some("notes"),
    version: Option::Some("1.0.0"),
    timeout: Option::Some(Duration::from_millis(3000u64)),
    prompt: Option::Some(&["name"]),
    sole: Option::Some(&__SOLE),
    ..async_entry::<
        __Tool,
    >(
        "notes:ask:1.0.0",
        "ask",
        location(
            file!(),
            line!(),
            column!(),
        ),
        || sole_input::<
            <__Fits_name as OrStandIn<String>>::Type,
        >(&__SOLE),
    )
};
fn __default_at() -> __Field_at {
    <__Fits_at as OrStandIn<
        Disk<u8>,
    >>::put(|| ArgumentDefault::<Disk<u8>>::into_default(<Disk<u8>>::LAST))
}
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = ":: toolkit :: __private :: serde")]
#[schemars(crate = ":: toolkit :: __private :: schemars")]
struct __Arguments {
    item: __Field_item,
    #[serde(with = "< Notes < Disk < u8 > > >::format")]
    to: Option<Notes<Disk<u8>>>,
    #[serde(default = "__default_at")]
    at: __Field_at,
}
impl SyncFunction for __Tool {
    fn call(
        __input: Self::Input,
        __host: Host<'_>,
    ) -> Result<Vec<Disk<u8>>, ToolError> {
        Ok(
            <Notes<
                Disk<u8>,
            >>::append(
                Borrowed::<Notes<Disk<u8>>>::from_host(__host)?,
                __input.0,
                __input.1,
                __input.2,
            ),
        )
    }
}
static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("Appends."));
        __metadata.title = Option::Some(
            text({
                const __TEXT: &'static str = <Notes<Disk<u8>>>::TITLE;
                __TEXT
            }),
        );
        __metadata.tags = texts(&["a", "b", "c"]);
        __metadata.annotations.destructive = Option::Some(true);
        __metadata
    },
    namespace: Option::Some("archive"),
    version: Option::Some("2.0.0"),
    timeout: Option::Some(Duration::from_millis(3000u64)),
    states: &[Borrowed::<Notes<Disk<u8>>>::STATE],
    ..sync_entry::<
        __Tool,
    >(
        "archive:append:2.0.0",
        "append",
        location(
            file!(),
            line!(),
            column!(),
        ),
        input::<__Arguments>,
    )
};
impl AsyncFunction for __Tool {
    fn call<'a>(
        __input: Self::Input,
        __host: Host<'a>,
    ) -> impl Future<
        Output = Result<String, ToolError>,
    > + Send + 'a {
        async move { Ok(<Notes<Disk<u8>>>::ask(__input).await) }
    }
}
static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("Asks."));
        __metadata.tags = texts(&["a", "c", "b"]);
        __metadata.annotations.read_only = Option::Some(true);
        __metadata
    },
    namespace: Option::Some("archive"),
    version: Option::Some("2.0.0"),
    timeout: Option::Some(Duration::from_millis(3000u64)),
    prompt: Option::Some(&["name"]),
    sole: Option::Some(&__SOLE),
    ..async_entry::<
        __Tool,
    >(
        "archive:ask:2.0.0",
        "ask",
        location(
            file!(),
            line!(),
            column!(),
        ),
        || sole_input::<
            <__Fits_name as OrStandIn<String>>::Type,
        >(&__SOLE),
    )
};
