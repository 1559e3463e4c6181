//! Skills of servers: through one proxy and two.

use data_encoding::HEXLOWER;
use serde_json::json;
use sha2::{Digest, Sha256};
use toolkit::resource::{Resource, Resources};
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_mcp_server::{ResourceSet, Server, SkillSet};

use super::in_the_end;
use super::resources::{proxy, served};

fn server(resources: impl Resources) -> Server {
    Server::builder(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).resources(resources).build().unwrap()
}

#[tokio::test]
async fn the_digests_and_relative_links_of_a_skill_fit_behind_two_proxies() {
    let skills = SkillSet::new().with("refunds", "Refunds orders.", "[mail](mail.md)").unwrap();
    let leaf = served("leaf", &server(skills.clone())).await;
    let plain = served("plain", &server(ResourceSet::new().with(Resource::new("a://b", "b"), "b"))).await;
    let inner = proxy([leaf, plain]).await;
    let outer = proxy([served("inner", &inner).await]).await;
    let client = served("outer", &outer).await;
    let context = Context::new();

    let listed = in_the_end(client.skills(&context)).await.unwrap();
    let uri = "skill://proxy/inner/proxy/leaf/refunds/SKILL.md";
    let expected = skills.iter().next().unwrap();
    assert_eq!(listed.iter().map(|skill| &*skill.uri).collect::<Vec<_>>(), [uri]);
    assert_eq!(json!(listed[0].frontmatter).to_string(), json!(expected.frontmatter).to_string());
    let file = &listed[0].resources.as_ref().unwrap()[0];
    assert_eq!((&*file.uri, &file.digest), (uri, &expected.resources.as_ref().unwrap()[0].digest));

    let contents = in_the_end(Resources::read(&client, uri, &context)).await.unwrap().unwrap();
    let text = contents[0].as_text().unwrap();
    assert_eq!(file.size, Some(text.len() as u64));
    assert_eq!(file.digest, format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(text))));
    assert_eq!(in_the_end(client.skill(uri, &context)).await.unwrap().as_ref(), Some(&listed[0]));
    for unknown in
        ["skill://proxy/inner/proxy/leaf/other/SKILL.md", "skill://proxy/other/a/SKILL.md", "skill://refunds/SKILL.md"]
    {
        assert_eq!(in_the_end(client.skill(unknown, &context)).await.unwrap(), None, "{unknown}");
    }
}
