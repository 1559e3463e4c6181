//! Programs in TypeScript.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::programs::{program, run_to_end, small_limits};
use toolkit_code::FailureKind;
use toolkit_code::engine::JavaScript;

use crate::engine::run;

#[test]
fn types_have_no_effect() {
    for (code, value) in [
        ("const name: string = 'a'; return name;", json!("a")),
        ("let name: string; name = 'a'; return name", json!("a")),
        ("let cursor: string | undefined = undefined; let n: number | null = 3; return n", json!(3)),
        ("let state: 'open' | 'closed' = 'open'; return state", json!("open")),
        ("const double = (n: number): number => 2 * n; return double(2);", json!(4)),
        ("const f = async (a?: string, b: { x: number, y?: string[] } = { x: 1 }) => b.x; return f()", json!(1)),
        ("function f(a: number, ...rest: number[]): Promise<number> { return a }; return f(3)", json!(3)),
        ("function id<T extends object = {}>(x: T): T { return x }\nreturn id(3)", json!(3)),
        ("const f = <T>(x: T): T => x; return f(3)", json!(3)),
        ("const f: (a: number) => number = (a) => a; return f(3)", json!(3)),
        ("const is = (x: unknown): x is string => typeof x === 'string'; return is('a')", json!(true)),
        ("async function main(): Promise<number> { return 3 }\nmain()", json!(3)),
        ("async ({ tools }: { tools: any }) => await tools.math.add({ a: 1, b: 2 })", json!(3)),
        ("export default async function main(tools: any): Promise<number> { return 3 }", json!(3)),
        ("interface Issue extends Base<string> {\n  // the user's\n  title: string;\n}\nreturn 3", json!(3)),
        ("export interface Issue { title: string; tags?: string[] }\nexport default 3", json!(3)),
        ("type F = (a: string) => void\ntype Row = {\n  id: number\n  'a b': string\n}\nreturn 3", json!(3)),
        ("type Id<T> =\n  | string\n  | T[];\nreturn 3", json!(3)),
        ("import type { Tools } from './tools'\nreturn 3", json!(3)),
        ("declare const x: number\nreturn 3", json!(3)),
        ("const all = (await tools.echo({ a: [3] })) as { a: number[] }; return all.a[0]", json!(3)),
        ("return ([3] as number[])[0] as any || 4", json!(3)),
        ("const x = { a: 3 } as const; return x.a", json!(3)),
        ("const x = <any>{ a: 3 }; return x.a", json!(3)),
        ("const r = await tools.echo({ a: 1 }) satisfies unknown; return r", json!({ "a": 1 })),
        ("return 'a' as keyof typeof globalThis", json!("a")),
        ("const seen: Map<string, number> = new Map<string, number>(); return seen", json!({})),
        ("return new Set<string>()", json!([])),
        ("const all: number[] = [3]; return Math.max(...await Promise.all<number>(all))", json!(3)),
        (
            "const all: number[] = [1]; return all.reduce<Record<string, number>>((all, n) => { all[n] = 1; return all }, {})",
            json!({ "1": 1 }),
        ),
        ("const text: string = 'max<number>(1)'; return text", json!("max<number>(1)")),
        ("const a = [1, 3].find((n) => n > 1)!; return a;", json!(3)),
        ("const m = { a: { b: 3 } }; return m.a!.b", json!(3)),
        ("try { null.x } catch (e: unknown) { return (e as Error).name }", json!("TypeError")),
        ("const { a, b }: { a: number; b: string } = { a: 3, b: 'x' }; return a", json!(3)),
        ("return [{ id: 3 }].map(({ id }: { id: number }) => id)", json!([3])),
        ("let x: -1 | 1.5 | `a` | 'b' = -1; return x", json!(-1)),
        ("let x: number[][] = [[3]]; return x[0][0]", json!(3)),
        ("let x: Intl.DateTimeFormat[] | undefined; return 3", json!(3)),
        ("let x: { a: [number, (b: string) => void]; /* } */ c: 'd]' }; return 3", json!(3)),
        ("let x: { // }\n a: number };\nreturn 3", json!(3)),
        ("let x: { [key: string]: number } = { a: 3 }; return x.a", json!(3)),
        ("let x: string & { a?: 1 } = 'a'; return x", json!("a")),
        ("let x: readonly string[] = ['a']; return x", json!(["a"])),
        ("let f: <T>(a: T) => T = (a) => a; return f(3)", json!(3)),
        ("let f: (a: number) => (b: number) => number = (a) => (b) => a + b; return f(1)(2)", json!(3)),
        ("function f(x: unknown): asserts x is string | number {}\nf('a'); return 3", json!(3)),
        ("interface A<T = {}> extends B, D<T> { e(): void }\nreturn 3", json!(3)),
        ("return 3 as number && 4", json!(4)),
        ("const a = 3; return a!", json!(3)),
        // The quotes of a line end with it.
        ("const all: number[] = [1]; // it's\nreturn all.reduce<number>((a, b) => a + b, 2)", json!(3)),
        (
            "class P<T> { private x: number = 1; static readonly z = 3; y?: string; get(): number { return this.x } }
             return new P().get() + P.z",
            json!(4),
        ),
    ] {
        assert_eq!(run(code).summary(), format!("ok: {value}"), "{code}");
    }
}

#[test]
fn places_are_those_of_the_text_with_its_types() {
    let failure =
        run("const ä: string = 'ä'\nconst a: Array<{ 'ä': number }> = []; return b").done.outcome.unwrap_err();
    assert_eq!((failure.line, failure.column), (Some(2), Some(46)), "{failure}");
    assert_eq!(failure.source.as_deref(), Some("const a: Array<{ 'ä': number }> = []; return b"));
}

#[test]
fn valid_javascript_is_not_changed() {
    let code = "\
const as = 1, type = 2, text = 'a as string', template = `x: number <string>(1)`;
label: for (const is of [as < type, type > (as)]) { if (is) continue label }
return [as, type, text, template, as ? type : as, text ?.length, !as, as<type>(as), { type, as }.as]";
    let value = json!([1, 2, "a as string", "x: number <string>(1)", 2, 11, false, false, 1]);
    assert_eq!(run(code).value(), value);
}

#[test]
fn erasing_types_ends_in_time() {
    let limits = small_limits().steps(u64::MAX).run_time(Duration::from_millis(50));
    for part in ["let a: b;", "f<", "a as {", "type A = [", "<<", "{:(", "x:`", "f<{", "f<a>(", "let a:b;f<a>("] {
        let code = format!("let x: any;{}", part.repeat(250_000 / part.len()));
        let start = Instant::now();
        let ended = run_to_end(&mut JavaScript::new(limits, Arc::default()), &program(&code));
        assert!(start.elapsed() < Duration::from_secs(10), "{part}: {:?}", start.elapsed());
        let kind = ended.done.outcome.unwrap_err().kind;
        assert!([FailureKind::Time, FailureKind::Syntax, FailureKind::Memory].contains(&kind), "{part}: {kind:?}");
    }
    assert_eq!(run("let a: b; a = null; return a").value(), Value::Null);
}
