//# array that grows
//# kind: memory
//# origin: own
const list = [];
for (;;) list.push({});

//# array of a length that does not fit
//# kind: memory
//# origin: own
return new Array(100_000_000).fill(0).length;

//# string that doubles
//# kind: memory | exception
//# origin: own
let text = 'a';
for (;;) text += text;

//# repeat
//# kind: memory | exception
//# origin: own
return 'a'.repeat(2 ** 30).length;

//# padding
//# kind: memory | exception
//# origin: own
return 'a'.padEnd(2 ** 29).length;

//# join
//# kind: memory | exception
//# origin: own
return new Array(1000).fill('x'.repeat(100_000)).join('').length;

//# linked list
//# kind: memory
//# origin: own
let list = null;
for (;;) list = { list };

//# linked list in a function
//# kind: memory
//# origin: own; QuickJS throws null here
(() => { let list = null; for (;;) list = { list }; })();

//# linked list, in an asynchronous function
//# kind: memory
//# origin: own
const grow = async () => { let list = null; for (;;) list = { list }; };
await grow();

//# closures
//# kind: memory
//# origin: own
let f = () => 0;
for (;;) { const g = f; f = () => g; }

//# Map that grows
//# kind: memory
//# origin: own
const map = new Map();
for (let i = 0; ; i++) map.set(i, i);

//# Set that grows
//# kind: memory
//# origin: own
const set = new Set();
for (let i = 0; ; i++) set.add(i);

//# object with many keys
//# kind: memory
//# origin: own
const object = {};
for (let i = 0; ; i++) object['k' + i] = i;

//# typed array
//# kind: memory | exception
//# origin: vm2 #51
return new Uint8Array(1e9).length;

//# typed array beyond all memory
//# kind: memory | exception
//# origin: vm2 #51
return new Uint8Array(1e100).length;

//# array buffers
//# kind: memory | exception
//# origin: own
const list = [];
for (;;) list.push(new ArrayBuffer(1 << 20));

//# resizable array buffer
//# kind: memory | exception | ok
//# value: *
//# origin: own
const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 40 });
buffer.resize(2 ** 39);

//# big integer by shift
//# kind: memory | exception
//# origin: own
return String(1n << 100_000_000n);

//# Array.from with a length
//# kind: memory | steps | exception
//# origin: own
Array.from({ length: 2 ** 32 });

//# symbols
//# kind: memory | steps
//# origin: own
const list = [];
for (let i = 0; ; i++) list.push(Symbol.for('s' + i));

//# promises that nothing settles
//# kind: memory
//# origin: own
const list = [];
for (;;) list.push(new Promise(() => {}));

//# promises that wait for each other
//# kind: memory | steps
//# origin: own
let promise = Promise.resolve();
for (;;) promise = promise.then(() => 1);

//# generators that wait
//# kind: memory
//# origin: own
function* g() { yield new Array(1000).fill(1); }
const list = [];
for (;;) { const it = g(); it.next(); list.push(it); }

//# errors that are kept
//# kind: memory | steps
//# origin: own
const list = [];
for (;;) list.push(new Error('e'));

//# rejections that nothing handles
//# kind: memory | steps
//# origin: own
for (;;) Promise.reject(new Array(1000).fill(1));

//# memory exceeded again and again
//# kind: memory | steps | time | ok
//# value: *
//# origin: own
const list = [];
for (let i = 0; i < 3; i++) {
  try { for (;;) list.push(new Array(10_000).fill(i)); } catch { list.length = 0; }
}
return 1;

//# recursion
//# kind: memory
//# origin: own
const f = () => f();
f();

//# mutual recursion
//# kind: memory
//# origin: own
const even = (n) => odd(n + 1), odd = (n) => even(n + 1);
even(0);

//# asynchronous recursion
//# kind: memory
//# origin: own
async function f() { await f(); }
await f();

//# recursion by getters
//# kind: memory
//# origin: own
const object = { get a() { return this.a; } };
return object.a;

//# recursion by proxies
//# kind: memory
//# origin: own
const proxy = new Proxy({}, { get: (target, name, receiver) => receiver[name] });
return proxy.a;

//# recursion by toString
//# kind: memory
//# origin: own
const object = { toString() { return `${this}`; } };
return `${object}`;

//# recursion by sort
//# kind: memory
//# origin: own
const f = () => [2, 1].sort(f);
f();

//# recursion by replace
//# kind: memory
//# origin: bellard/mquickjs #44
function f() { return 'e'.replaceAll('e', f); }
f();

//# recursion by new
//# kind: memory
//# origin: bellard/mquickjs #44
function F(a) { new F(a, F); }
new F(F, F, F);

//# recursion by generators
//# kind: memory
//# origin: own
function* g() { yield* g(); }
[...g()];

//# recursion by constructors
//# kind: memory
//# origin: own
class A { constructor() { new A(); } }
new A();

//# recursion by JSON.stringify
//# kind: memory
//# origin: own
const object = { toJSON() { return JSON.stringify(object); } };
JSON.stringify(object);

//# recursion by reduce
//# kind: memory
//# origin: own
const f = () => [1, 2].reduce(f);
f();

//# recursion by bind
//# kind: memory | steps | exception
//# origin: own
let f = () => 1;
for (let i = 0; i < 100_000; i++) f = f.bind(null);
f();

//# recursion in a catch
//# kind: memory | steps | time
//# origin: CVE-2023-29199 in vm2
function f() { try { f(); } finally { f(); } }
f();

//# nested arrays
//# kind: value
//# origin: monty #116
let list = [];
for (let i = 0; i < 100_000; i++) list = [list];
return list;

//# nested objects as arguments
//# kind: exception
//# says: nested deeper than 100 levels
//# origin: monty #116
let object = {};
for (let i = 0; i < 100_000; i++) object = { object };
await tools.echo(object);

//# nested objects printed
//# value: 1
//# origin: monty #116
let object = {};
for (let i = 0; i < 100_000; i++) object = { object };
console.log(object);
return 1;

//# nested objects by JSON.stringify
//# kind: memory
//# origin: monty #116
let list = [];
for (let i = 0; i < 100_000; i++) list = [list];
return JSON.stringify(list);

//# nested arrays by flat
//# kind: memory | ok
//# value: *
//# origin: monty #116
let list = [];
for (let i = 0; i < 100_000; i++) list = [list];
return list.flat(Infinity).length;

//# nested arrays by toString
//# kind: memory
//# origin: monty #116
let list = [];
for (let i = 0; i < 100_000; i++) list = [list];
return `${list}`;

//# nested JSON
//# kind: memory | exception | value
//# origin: monty #112
return JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));

//# value that shares its parts
//# kind: size | steps | time
//# origin: own: billion laughs
let list = ['ha'];
for (let i = 0; i < 40; i++) list = [list, list];
return list;

//# arguments that share their parts
//# kind: exception | steps | time
//# origin: own: billion laughs
let list = ['ha'];
for (let i = 0; i < 40; i++) list = [list, list];
await tools.echo(list);

//# printed value that shares its parts
//# kind: ok | steps | time
//# origin: own: billion laughs
let list = ['ha'];
for (let i = 0; i < 40; i++) list = [list, list];
console.log(list);
return 1;

//# value with a length of its own
//# kind: size
//# origin: own
return new Proxy([], { get: (target, name) => (name === 'length' ? 2 ** 53 - 1 : 'an element') });

//# value with a negative length
//# value: []
//# origin: own
return new Proxy([], { get: (target, name) => (name === 'length' ? -1 : undefined) });

//# value with a length that is none
//# kind: exception | ok
//# value: *
//# origin: own
return new Proxy([], { get: (target, name) => (name === 'length' ? {} : undefined) });

//# sparse array as the value
//# kind: size
//# origin: own
const list = [];
list.length = 4_294_967_295;
return list;

//# object with keys without end
//# kind: size | memory | steps
//# origin: own
return new Proxy({}, {
  ownKeys: () => Array.from({ length: 50_000 }, (_, i) => 'key' + i),
  getOwnPropertyDescriptor: () => ({ value: 'x'.repeat(100), enumerable: true, configurable: true }),
  get: () => 'x'.repeat(100),
});

//# template strings
//# kind: memory | exception
//# origin: own
let text = 'x'.repeat(1000);
for (;;) text = `${text}${text}`;

//# split
//# kind: memory
//# origin: own
return 'a'.repeat(8_000_000).split('').length;

//# regular expression with many groups
//# kind: memory | exception | syntax | ok
//# value: *
//# origin: own
return new RegExp('(a)'.repeat(50_000)).test('a');

//# nested regular expression
//# kind: memory | exception
//# origin: own
return new RegExp('('.repeat(100_000) + ')'.repeat(100_000)).test('a');

//# nested quantifiers with counts
//# kind: memory | exception | steps | ok
//# value: *
//# origin: own
return new RegExp('(?:(?:(?:a{1000}){1000}){1000})').test('a');

//# arguments of a call
//# kind: memory | exception
//# origin: own
return Math.max(...new Array(1_000_000).fill(1));

//# apply with many arguments
//# kind: memory | exception
//# origin: own
return Math.max.apply(null, { length: 2 ** 31 });

//# matchAll
//# kind: memory
//# origin: own
return [...'a'.repeat(1_000_000).matchAll(/a/g)].length;
