mod files {
    /// Reads.
    #[toolkit::tool(__module(namespace = "files", tags = ["a"]), tags = ["b"])]
    fn read() {}
    #[prompt(__module(namespace = "files", tags = ["a"]))]
    fn ask() {}
    #[toolset(__module(namespace = "files", tags = ["a"]), namespace = "c")]
    impl A {
        #[tool]
        fn f() {}
    }
    mod inner {
        #[tool(__module(namespace = "files", tags = ["a"]))]
        fn f() {}
        #[tool = 3]
        fn g() {}
    }
    #[other]
    #[toolset(__module(namespace = "files", tags = ["a"]))]
    mod own {
        #[tool]
        fn f() {}
    }
    fn plain() {}
}
