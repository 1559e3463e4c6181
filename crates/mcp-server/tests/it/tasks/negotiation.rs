//! The support of tasks by the client and the tool.

use super::tools::server;
use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_server_publishes_its_support_in_the_form_of_each_era() {
    let (server, _) = server();
    for way in [Way::Pipes, Way::Http] {
        let mut client = Client::connect(&server, (Era::Legacy, way), tasks()).await;
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {} });
        let initialized = client.send_unchecked("initialize", &params).await;
        let capabilities = &initialized["result"]["capabilities"];
        assert_eq!(capabilities["tasks"], json!({ "cancel": {}, "requests": { "tools": { "call": {} } } }));
        let listed = client.send_unchecked("tools/list", &json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let support = |name: &str| &tools.iter().find(|tool| tool["name"] == name).unwrap()["execution"];
        assert_eq!(*support("build"), json!({ "taskSupport": "optional" }));
        assert_eq!(*support("build_in_time"), json!({ "taskSupport": "required" }));
        assert_eq!(*support("add"), Value::Null);

        let mut client = Client::connect(&server, (Era::Modern, way), tasks()).await;
        let discovered = client.send_unchecked("server/discover", &json!({})).await;
        let capabilities = &discovered["result"]["capabilities"];
        assert_eq!(capabilities["extensions"], json!({ "io.modelcontextprotocol/tasks": {} }));
        assert_eq!(capabilities["tasks"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_tasks_waits_for_the_result() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (era, way), json!({})).await;
        let params = json!({ "name": "build", "arguments": { "name": "a shed" } });
        stage.open_later();
        let response = send(&mut client, "tools/call", &params).await;
        assert_eq!(text(&response["result"]), "a shed is built");
        assert_eq!(server.status().n_tasks, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_tasks_cannot_call_a_tool_that_requires_them() {
    for (era, way) in EACH_WAY {
        let (server, _) = server();
        let mut client = Client::connect(&server, (era, way), json!({})).await;
        let response = send(&mut client, "tools/call", &json!({ "name": "build_in_time", "arguments": {} })).await;
        if era == Era::Legacy {
            assert_eq!(response["error"]["code"], -32601);
            continue;
        }
        assert_eq!(response["error"]["code"], -32021);
        let required = &response["error"]["data"]["requiredCapabilities"];
        assert_eq!(*required, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_without_tasks_cannot_be_called_as_one() {
    for way in [Way::Pipes, Way::Http] {
        let (server, _) = server();
        let mut client = Client::connect(&server, (Era::Legacy, way), tasks()).await;
        let response = send(&mut client, "tools/call", &as_task(Era::Legacy, "add", json!({ "a": 1, "b": 2 }))).await;
        assert_eq!(response["error"]["code"], -32601);
        // The later era has no such parameter and ignores it.
        let mut client = Client::connect(&server, (Era::Modern, way), tasks()).await;
        let response = send(&mut client, "tools/call", &as_task(Era::Legacy, "add", json!({ "a": 1, "b": 2 }))).await;
        assert_eq!(text(&response["result"]), "3");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_tasks_need_the_capability_in_the_later_era() {
    let (server, _) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), json!({})).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": "0".repeat(40), "inputResponses": {} });
        assert_eq!(send(&mut client, method, &params).await["error"]["code"], -32021, "{method}");
    }
    // Some clients declare an extension as `null` or `true`.
    for declared in [json!(null), json!(true), json!([])] {
        let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": declared } });
        let mut client = Client::connect(&server, (Era::Modern, Way::Http), capabilities).await;
        let response = send(&mut client, "tasks/get", &json!({ "taskId": "0" })).await;
        assert_eq!(response["error"]["code"], -32021, "{declared}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_era_has_its_own_methods() {
    let (server, _) = server();
    let params = json!({ "taskId": "0".repeat(40), "inputResponses": {} });
    for (era, way) in EACH_WAY {
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let missing = if era == Era::Legacy { "tasks/update" } else { "tasks/result" };
        for method in [missing, "tasks/list", "tasks/other"] {
            assert_eq!(send(&mut client, method, &params).await["error"]["code"], -32601, "{era:?} {method}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_parameters_are_described() {
    let (server, _) = server();
    for (era, way) in EACH_WAY {
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        for id in [json!(null), json!(1), json!({}), json!("../../etc/passwd"), json!("x".repeat(1 << 20))] {
            // A header cannot have all of these ids.
            if way == Way::Http && era == Era::Modern && !id.is_string() {
                continue;
            }
            let response = send(&mut client, "tasks/get", &json!({ "taskId": id })).await;
            assert_eq!(response["error"]["code"], -32602, "{era:?} {way:?}");
            assert!(response.to_string().len() < 1000);
        }
    }
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), tasks()).await;
    for task in [json!(true), json!([]), json!({ "ttl": -1 }), json!({ "ttl": "1" })] {
        let params = json!({ "name": "build", "arguments": { "name": "x" }, "task": task });
        assert_eq!(send(&mut client, "tools/call", &params).await["error"]["code"], -32602, "{task}");
    }
}
