//! The chapters of the guide, so that their examples are compiled and run.

macro_rules! chapters {
    ($($name:ident = $file:literal),* $(,)?) => { $(
        #[doc = include_str!(concat!("../../docs/", $file))]
        pub mod $name {}
    )* };
}

chapters! {
    authoring = "authoring.md",
    authoring_types = "authoring-types.md",
    state = "state.md",
    errors = "errors.md",
    coercion = "coercion.md",
    testing = "testing.md",
    mcp_server = "mcp-server.md",
    existing_login = "existing-login.md",
    hosts = "hosts.md",
    explorer = "explorer.md",
    operating = "operating.md",
    deployment = "deployment.md",
    troubleshooting = "troubleshooting.md",
    proxy = "proxy.md",
    proxy_file = "proxy-file.md",
    proxy_logins = "proxy-logins.md",
    proxy_restrict = "proxy-restrict.md",
    proxy_operate = "proxy-operate.md",
    proxy_results = "proxy-results.md",
    replicas = "replicas.md",
    workers = "workers.md",
    workers_cost = "workers-cost.md",
    durable = "durable.md",
    durable_operate = "durable-operate.md",
    resources = "resources.md",
    prompts = "prompts.md",
    providers = "providers.md",
    agents = "agents.md",
    replies = "replies.md",
    replies_tolerated = "replies-tolerated.md",
    search = "search.md",
    chains = "chains.md",
    code_mode = "code-mode.md",
    sandboxes = "sandboxes.md",
    streams = "streams.md",
    asking = "asking.md",
    tasks = "tasks.md",
    command_line = "command-line.md",
    shipping = "shipping.md",
    security_model = "security-model.md",
    migrating_from_rmcp = "migrating-from-rmcp.md",
    migrating_from_rust_mcp_sdk = "migrating-from-rust-mcp-sdk.md",
    migrating_from_fastmcp = "migrating-from-fastmcp.md",
    faq = "faq.md",
    cookbook = "cookbook.md",
    compared = "compared.md",
    platforms = "platforms.md",
    by_hand = "by-hand.md",
}
