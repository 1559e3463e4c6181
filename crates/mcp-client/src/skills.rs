//! The skills of a server (`io.modelcontextprotocol/skills`), whose files are resources.

use toolkit::resource::Skill;
use toolkit::{Context, ToolError};
use toolkit_mcp::{Code, SKILLS_EXTENSION};

use super::caller::FromCaller;
use super::failure::Failure;
use super::link::Link;
use super::outgoing::Request;
use super::raw::Raw;
use super::remote::in_time;
use super::resources::{MAX_SKILL_BYTES, entries, failed};
use super::watches::is_uri;

/// Lists the skills of a server, except for those that cannot be read as such.
pub(super) async fn list(link: &Link) -> Result<Vec<Skill>, ToolError> {
    if link.sleeps_without(|info| info.has_extension(SKILLS_EXTENSION)) {
        return Ok(Vec::new());
    }
    let connection = link.connection_for_call().await?;
    if !connection.info.has_extension(SKILLS_EXTENSION) {
        return Ok(Vec::new());
    }
    let mut skills: Vec<Skill> = entries(&link.remote, &connection, "skills/list", "skills").await?;
    skills.retain(is_valid);
    Ok(skills)
}

/// Requests a skill, which the server need not list. Returns `None` if the server does not have it.
pub(super) async fn get(link: &Link, uri: &str, context: &Context) -> Result<Option<Skill>, ToolError> {
    let remote = &link.remote;
    let connection = link.connection_for_call().await?;
    if !connection.info.has_extension(SKILLS_EXTENSION) || !is_uri(uri) {
        return Ok(None);
    }
    let _permit = link.permit_in_time().await?;
    let request = Request::about("skills/get", "uri", uri).from(FromCaller::of(remote, context)?);
    let skill = match in_time(remote, remote.limits.call, connection.ask(request)).await? {
        Ok(result) => result.field("skill"),
        Err(Failure::Rpc(error)) if error.has_code(Code::ResourceNotFound) || error.has_code(Code::InvalidParams) => {
            return Ok(None);
        }
        Err(failure) => return Err(failed(remote, &connection, failure).await),
    };
    let invalid = || remote.invalid_response("with an invalid skill");
    let skill = skill.filter(|skill| skill.get().len() <= MAX_SKILL_BYTES).ok_or_else(invalid)?;
    let skill: Skill = Raw::parse(&skill).map_err(|error| invalid().caused_by(error))?;
    if skill.uri != uri || !is_valid(&skill) {
        return Err(invalid());
    }
    Ok(Some(skill))
}

/// Returns true if all files have URIs.
fn is_valid(skill: &Skill) -> bool {
    is_uri(&skill.uri) && skill.resources.iter().flatten().all(|file| is_uri(&file.uri))
}
