//# property of undefined
//# kind: exception
//# place: 2:8
//# says: cannot read property 'total' of undefined
const report = {};
return report.sum.total;

//# property of null
//# kind: exception
//# place: 1:1
//# says: cannot read property 'name' of null
const name = null.name;

//# method that does not exist
//# kind: exception
//# place: 2:7
//# says: items.sortBy is not a function
const items = [3, 1, 2];
items.sortBy((a) => a);

//# nested method that does not exist
//# kind: exception
//# place: 2:17
//# says: api.users.fetchAll is not a function
const api = { users: {} };
await api.users.fetchAll();

//# call of undefined
//# kind: exception
//# place: 2:1
//# says: helper is not a function
const helper = undefined;
helper();

//# name that is not defined
//# kind: exception
//# place: 1:8
//# says: total is not defined
return total;

//# assignment without declaration
//# kind: exception
//# says: count is not defined
//# says: let count
//# place: 1:1
count = 1;

//# use before declaration
//# kind: exception
//# place: 1:8
//# says: used before its declaration
return total; let total = 1;

//# assignment to a constant
//# kind: exception
//# says: 'total' is read-only
//# place: 2:1
const total = 1;
total += 1;

//# not iterable
//# kind: exception
//# says: not iterable
//# place: 1:1
for (const item of { a: 1 }) {
}

//# destructuring of undefined
//# kind: exception
//# says: Cannot convert undefined or null to object
const { items } = undefined;

//# error of the program
//# kind: exception
//# place: 2:36
//# says: no open issues
const issues = [];
if (issues.length === 0) throw new Error('no open issues');

//# error of another type
//# kind: exception
//# says: RangeError: page 0
//# place: 1:11
throw new RangeError('page 0');

//# error in a function
//# kind: exception
//# place: 5:13
//# says: deep inside
function outer() {
  return inner();
}
function inner() {
  throw new Error('deep inside');
}
outer();

//# error after a call
//# kind: exception
//# place: 2:8
//# says: cannot read property 'value' of undefined
const sum = await tools.math.add({ a: 1, b: 2 });
return sum.missing.value;

//# error in an asynchronous function
//# kind: exception
//# place: 2:26
//# says: in the loop
await Promise.all([1, 2].map(async (a) => {
  if (a === 2) throw new TypeError('in the loop');
}));

//# errors of all alternatives
//# kind: exception
//# says: AggregateError: one; two
await Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))]);

//# a value thrown
//# kind: exception
//# says: the program threw {"code":5}
throw { code: 5 };

//# a text thrown
//# kind: exception
//# says: the program threw not found
throw 'not found';

//# null thrown
//# kind: exception
//# says: the program threw null
throw null;

//# JSON that is none
//# kind: exception
//# place: 1:5
//# says: JSON
JSON.parse('{status: 1}');

//# numbers and big integers
//# kind: exception
//# says: BigInt
//# place: 1:13
return 10n + 1;

//# length that is invalid
//# kind: exception
//# says: invalid array length
//# place: 1:5
new Array(-1);

//# unknown tool of a namespace
//# kind: exception
//# place: 1:14
//# says: tools.math.ad is not a tool; did you mean tools.math.add?
return await tools.math.ad({ a: 1, b: 2 });

//# tool in the other case
//# kind: exception
//# says: did you mean tools.github.list_issues?
return await tools.github.listIssues({});

//# tool of another namespace
//# kind: exception
//# says: did you mean tools.github.list_issues?
return await tools.math.list_issues({});

//# unknown namespace
//# kind: exception
//# says: tools.slack is not a tool; tools has echo, fail, github, image, math, nothing
//# says: search("words")
return await tools.slack.post_message({ text: 'hi' });

//# misspelled namespace
//# kind: exception
//# says: tools.githb is not a tool; tools.github has list_issues
return await tools.githb.list_issues({});

//# namespace called
//# kind: exception
//# says: tools.math is a namespace and not a tool; it has add, subtract
return await tools.math({ a: 1 });

//# tool without `tools`
//# kind: exception
//# place: 1:14
//# says: math is not defined; did you mean `tools.math`?
return await math.add({ a: 1, b: 2 });

//# name of a tool alone
//# kind: exception
//# says: did you mean `tools.github.list_issues`?
return await list_issues({});

//# tool that fails
//# kind: tool
//# place: 2:20
//# says: the server is restarting
let x = 1;
return await tools.fail({ x });

//# tool that fails in a function
//# kind: tool
//# place: 3:16
//# says: the server is restarting
async function restart() {
  await tools.math.add({ a: 1, b: 2 });
  return tools.fail({});
}
return await restart();

//# one of several calls fails
//# kind: tool
//# says: /a must be an integer
//# place: 3:14
return await Promise.all([
  tools.math.add({ a: 1, b: 2 }),
  tools.math.add({ a: 'one', b: 2 }),
]);

//# tool called by an id
//# kind: tool
//# place: 1:6
//# says: the server is restarting
await call('fail', {});

//# error of a tool thrown again
//# kind: tool
//# place: 2:15
//# says: the server is restarting
try {
  await tools.fail({});
} catch (error) {
  throw error;
}

//# forgotten await
//# kind: exception
//# place: 2:8
//# says: `items` is read from a Promise in place of its result: await it first; the call in line 1 is not awaited
const result = tools.github.list_issues({});
return result.items.length;

//# promise as an argument
//# kind: exception
//# says: the arguments at /a cannot be sent: a Promise: await it first
return await tools.math.add({ a: tools.math.add({ a: 1, b: 1 }), b: 2 });

//# recursive argument
//# kind: exception
//# says: the arguments at /self cannot be sent: a part of itself
const data = {};
data.self = data;
await tools.echo(data);

//# id that is not a text
//# kind: exception
//# says: the id of a tool must be a string
await call({ id: 'echo' });

//# import statement
//# kind: syntax
//# place: 1:8
//# says: a program is not a module
import fs from 'fs';
return fs.readFileSync('x');

//# import call
//# kind: exception
//# says: no network, files
const fs = await import('fs');

//# export
//# kind: syntax
//# place: 1:1
//# says: `return` the value
export { list } from 'github';

//# require
//# kind: exception
//# place: 1:12
//# says: require is not defined; a program has no network, files, processes and modules; call a tool
const fs = require('fs');

//# fetch
//# kind: exception
//# says: call a tool
//# place: 1:25
const response = (await fetch('https://example.org')).json();

//# process
//# kind: exception
//# says: process is not defined; a program has no network
return process.env.TOKEN;

//# page
//# kind: exception
//# says: no page and no browser
return document.title;

//# interval
//# kind: exception
//# says: await sleep(ms)
setInterval(() => {}, 1000);

//# text as code
//# kind: exception
//# says: eval is not defined
eval('1 + 1');

//# function from text
//# kind: exception
//# says: a program cannot compile text
new Function('return 1')();

//# missing name
//# kind: syntax
//# place: 2:9
let a = 1;
let b = ;

//# missing bracket
//# kind: syntax
//# place: 2:11
//# says: the text ends before a bracket is closed
if (true) {
  return 1;

//# missing bracket of a script
//# kind: syntax
//# says: the text ends before a bracket is closed
for (const a of [1]) {
  print(a)

//# one bracket too much
//# kind: syntax
//# place: 2:1
//# says: this `}` closes nothing
return 1;
}

//# text that does not end
//# kind: syntax
//# place: 1:8
//# says: unexpected end of string
return "abc

//# await in a plain function
//# kind: syntax
//# place: 1:40
//# says: `async` function around it
const sums = [1, 2].map((a) => { await tools.math.add({ a, b: 1 }) });

//# declared twice
//# kind: syntax
//# place: 2:9
//# says: redefinition
const a = 1;
const a = 2;

//# reserved word
//# kind: syntax
//# place: 1:5
let class = 1;

//# regular expression
//# kind: syntax
//# says: invalid regular expression
return /(/.test('a');

//# two statements in a line
//# kind: syntax
//# place: 1:13
//# says: increment
const a = 1 ++b return a

//# enum
//# kind: syntax
//# place: 2:1
//# says: this part of TypeScript is more than a type; write JavaScript
const name: string = 'a';
enum Color { Red }
return Color.Red;

//# parameter that declares a member
//# kind: syntax
//# place: 2:15
//# says: this part of TypeScript is more than a type; write JavaScript
class Point {
  constructor(private x: number) {}
}

//# type arguments alone
//# kind: exception
//# says: number is not defined; this is TypeScript; leave out the types between `<` and `>`
return await Promise.all<number>([1]);

//# named argument
//# kind: syntax
//# place: 1:30
return await tools.math.add(a: 1);

//# another language
//# kind: syntax
//# says: this is not JavaScript
def main():
    return 1

//# text before the program
//# kind: syntax
//# says: send the program only
Here is the program that you asked for:
return 1;

//# nothing
//# kind: syntax
//# says: the program is empty

//# empty fence
//# kind: syntax
//# says: the program is empty
```js
```

//# error inside a fence
//# kind: exception
//# place: 3:8
//# says: cannot read property 'b' of undefined
```javascript
const a = {};
return a.a.b;
```

//# syntax error inside a fence
//# kind: syntax
//# place: 2:9
```js
let x = ;
```

//# error in a function expression
//# kind: exception
//# place: 2:13
//# says: inside
async () => {
  throw new Error('inside');
}

//# error in the first line of a body
//# kind: exception
//# place: 1:21
//# says: first
if (true) throw new TypeError('first'); return 1;

//# column behind other characters
//# kind: exception
//# place: 1:27
//# says: cannot read property 'b' of undefined
const a = 'äöü€😀'; return a.a.b;

//# promise that nothing settles
//# kind: deadlock
//# says: no call and no sleep is running
await new Promise(() => {});

//# promise that nothing settles, after a call
//# kind: deadlock
await tools.math.add({ a: 1, b: 2 });
await new Promise(() => {});

//# value with itself
//# kind: value
//# says: the value at /children/0/parent is a part of itself
const tree = { children: [{}] };
tree.children[0].parent = tree;
return tree;

//# function as the value
//# kind: value
//# says: the value is a function; call it
return tools.math.add;

//# function as the value, after another
//# kind: value
//# says: the value is a function; call it
function helper() { return 1; }
return helper;

//# symbol as the value
//# kind: value
//# says: the value is a symbol
return Symbol('a');

//# deep value
//# kind: value
//# says: nested deeper than 100 levels
let value = 1;
for (let i = 0; i < 200; i++) value = [value];
return value;

//# promise in the value that nothing settles
//# kind: value
//# says: the value at /later is a Promise that nothing settles
return { later: new Promise(() => {}) };

//# failed promise in the value
//# kind: tool
//# says: the server is restarting
//# place: 1:14
return [tools.fail({})];

//# large value
//# kind: size
//# says: return only what is needed
return 'x'.repeat(2_000_000);

//# endless loop
//# kind: steps
//# says: check for a loop that does not end
let i = 0;
while (i < 10) {
}

//# endless recursion
//# kind: memory
//# place: 2:24
//# says: check for a recursion that does not end
function depth(n) {
  return 1 + depth(n + 1);
}
return depth(0);

//# too much memory
//# kind: memory
//# says: work on less data
const rows = [];
for (;;) rows.push(new Array(1000).fill(0));

//# error in a microtask
//# value: 5
//# says: not awaited: in a task (line 1, col 34)
queueMicrotask(() => { throw new Error('in a task'); });
return 5;

//# error that nothing awaited
//# value: 5
//# says: not awaited: the server is restarting (line 1, col 6)
tools.fail({});
return 5;
