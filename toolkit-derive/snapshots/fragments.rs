#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = ":: toolkit :: __private :: serde")]
#[schemars(crate = ":: toolkit :: __private :: schemars")]
struct __Arguments {
    #[schemars(length(min = 1))]
    a: __Field_a,
    #[schemars(range(min = 1))]
    b: __Field_b,
}
static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("F."));
        __metadata.title = Option::Some(text("F."));
        __metadata.tags = texts(&["a", "b"]);
        __metadata
    },
    aliases: &["c"],
    timeout: Option::Some(Duration::from_millis(3000u64)),
    ..sync_entry::<
        __Tool,
    >(
        "f",
        "f",
        location(
            file!(),
            line!(),
            column!(),
        ),
        input::<__Arguments>,
    )
};
