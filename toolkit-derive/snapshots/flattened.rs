impl Function for __Tool {
    type Input = HashMap<u8, A>;
    type Arguments = <__Fits_a as OrStandIn<HashMap<u8, A>>>::Type;
    type Returned = ();
    type Output = <Pick<
        { Returned::<()>::FALLIBLE },
    > as Succeeds<()>>::Output;
    type Encoding = Returns<
        { __Result::encoding(Shape::<__Output>::KIND) },
    >;
    fn input(
        __arguments: <__Fits_a as OrStandIn<HashMap<u8, A>>>::Type,
    ) -> HashMap<u8, A> {
        <__Fits_a as OrStandIn<HashMap<u8, A>>>::take(__arguments)
    }
    fn finish(__returned: ()) -> Result<Self::Output, ToolError> {
        match Returned(__returned).split() {
            Ok(__value) => Ok(__value),
            Err(__error) => {
                Err(
                    (&&&&ErrorOf::new(&__error)).convert_by().convert(__error),
                )
            }
        }
    }
}
static __ENTRY: Entry = Entry {
    metadata: || {
        let mut __metadata = Metadata::NONE;
        __metadata.description = Option::Some(text("F."));
        __metadata
    },
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
        || whole_input::<
            <__Fits_a as OrStandIn<HashMap<u8, A>>>::Type,
        >("Any."),
    )
};
