//# sort whose comparison shrinks the array
//# kind: ok | exception | memory
//# value: *
//# origin: bellard #2 to #26: comparison functions that change the array
const list = Array.from({ length: 1000 }, (_, i) => i);
list.sort((a, b) => { list.length = 0; list.push(1); return b - a; });
return list.length >= 0;

//# splice whose species shrinks the array
//# kind: ok | exception
//# value: *
//# origin: bellard: use after free in fast arrays
const list = [1, 2, 3, 4];
list.constructor = { [Symbol.species]: function (n) { list.length = 0; return new Array(n); } };
return list.splice(0, 4).length;

//# concat whose getter shrinks the array
//# kind: ok | exception
//# value: *
//# origin: bellard: use after free in fast arrays
const list = [1, , 3];
Object.defineProperty(Array.prototype, 1, { get() { list.length = 0; return 2; }, configurable: true });
return list.concat([4]).length;

//# slice whose valueOf shrinks the array
//# value: *
//# origin: bellard: use after free in fast arrays
const list = new Array(1000).fill(1.5);
return list.slice(0, { valueOf() { list.length = 0; return 1000; } }).length;

//# fill whose valueOf shrinks the array
//# value: *
//# origin: bellard: use after free in fast arrays
const list = new Array(1000).fill(1);
list.fill(2, { valueOf() { list.length = 0; return 0; } }, 1000);
return list.length;

//# typed array whose valueOf detaches the buffer
//# kind: ok | exception
//# value: *
//# origin: quickjs-ng: detached buffers
const bytes = new Uint8Array(1000);
bytes.fill({ valueOf() { bytes.buffer.transfer(); return 1; } });
return bytes.length;

//# set whose valueOf detaches the buffer
//# kind: ok | exception
//# value: *
//# origin: quickjs-ng: detached buffers
const bytes = new Uint8Array(1000);
bytes.set([{ valueOf() { bytes.buffer.transfer(0); return 1; } }, 2, 3], 10);
return bytes.length;

//# subarray of a buffer that shrinks
//# kind: ok | exception
//# value: *
//# origin: quickjs-ng: resizable buffers
const buffer = new ArrayBuffer(1000, { maxByteLength: 2000 });
const bytes = new Uint8Array(buffer);
return bytes.subarray({ valueOf() { buffer.resize(1); return 500; } }, 900).length;

//# sort of a typed array that detaches
//# kind: ok | exception
//# value: *
//# origin: quickjs-ng #1368, its kind: callbacks that free what is being used
const bytes = Uint8Array.from({ length: 100 }, (_, i) => 100 - i);
bytes.sort((a, b) => { bytes.buffer.transfer(); return a - b; });
return bytes.length;

//# DataView whose valueOf detaches
//# kind: exception | ok
//# value: *
//# origin: quickjs-ng: detached buffers
const view = new DataView(new ArrayBuffer(8));
view.setUint8({ valueOf() { view.buffer.transfer(); return 0; } }, 1);
return 1;

//# Map that is cleared while it is read
//# value: *
//# origin: bellard: Map iteration
const map = new Map([[1, 1], [2, 2], [3, 3]]);
let n = 0;
for (const [key] of map) { map.clear(); if (n++ < 10) map.set(key + n, 1); }
return n;

//# forEach that deletes
//# value: *
//# origin: bellard: Map iteration
const set = new Set([1, 2, 3]);
set.forEach((a) => { set.delete(a); set.delete(a + 1); if (a < 100) set.add(a + 5); });
return set.size;

//# iterator of a Map without its Map
//# value: *
//# origin: quickjs-ng #1440, its kind: iterators that outlive their collection
let map = new Map([[1, 1]]);
const iterator = map.entries();
map = null;
const list = [];
for (let i = 0; i < 1000; i++) list.push(new Map([[i, i]]));
return iterator.next().value;

//# groupBy whose callback changes the list
//# value: *
//# origin: quickjs-ng #1440, its kind
const list = [1, 2, 3];
return Object.keys(Object.groupBy(list, (a) => { list.length = 0; return a; })).length;

//# Iterator.concat and return
//# kind: ok | exception
//# value: *
//# origin: quickjs-ng #1440, its kind
const it = { [Symbol.iterator]() { return { next: () => ({ done: false, value: 1 }), return() { throw new Error('a'); } }; } };
return [...Iterator.concat(it).take(3)].length;

//# generator that resumes itself
//# kind: exception
//# says: running generator
//# origin: own
let g;
function* f() { g.next(); yield 1; }
g = f();
g.next();

//# generator that returns in finally
//# value: *
//# origin: own
function* f() { try { yield 1; } finally { yield 2; } }
const g = f();
g.next();
return [g.return(5), g.next(), g.next()].length;

//# asynchronous generator with many requests
//# value: 100
//# origin: own
async function* f() { for (let i = 0; i < 100; i++) yield i; }
const g = f();
const list = await Promise.all(Array.from({ length: 100 }, () => g.next()));
return list.filter((one) => !one.done).length;

//# Proxy with a handler that changes
//# kind: ok | exception
//# value: *
//# origin: bellard: proxies
const handler = {};
const proxy = new Proxy({}, handler);
Object.defineProperty(handler, 'get', { get() { delete handler.get; return () => 1; }, configurable: true });
return proxy.a;

//# Proxy whose trap revokes it
//# kind: ok | exception
//# value: *
//# origin: bellard: proxies
const { proxy, revoke } = Proxy.revocable({}, { get(target, name, receiver) { revoke(); return receiver[name]; } });
return proxy.a;

//# ownKeys of a Proxy that revokes it
//# kind: ok | exception
//# value: *
//# origin: bellard: proxies
const { proxy, revoke } = Proxy.revocable({ a: 1 }, { ownKeys(target) { revoke(); return Reflect.ownKeys(target); } });
return { ...proxy };

//# regular expression with a lastIndex that throws
//# kind: exception
//# says: lastIndex
//# origin: own
const re = /a/g;
re.lastIndex = { valueOf() { throw new Error('lastIndex'); } };
re.test('a');

//# regular expression compiled again while it runs
//# kind: ok | exception
//# value: *
//# origin: bellard: RegExp.prototype.compile
const re = /a/g;
return 'aaa'.replace(re, () => { re.compile('b', 'g'); return 'c'; });

//# regular expression whose exec is replaced
//# kind: ok | exception | memory
//# value: *
//# origin: own
const re = /a/g;
re.exec = () => ({ length: 2 ** 31, index: 0, 0: 'a' });
return 'aaa'.replace(re, 'b').length;

//# regular expression with a huge back reference
//# kind: ok | exception | syntax
//# value: *
//# origin: own
return /\99999999/.test('a');

//# regular expression with a Unicode property
//# value: true
//# origin: own
return /\p{Script=Greek}/u.test('α');

//# sumPrecise of large numbers
//# kind: ok | exception
//# value: *
//# origin: bellard #546, F-003
return Math.sumPrecise(Array.from({ length: 10_000 }, () => Number.MAX_VALUE)) > 0;

//# BigInt that is negative and shifted
//# value: *
//# origin: bellard #546
return String((-1n << 1000n) >> 999n);

//# BigInt.asUintN with a huge size
//# kind: ok | memory | exception
//# value: *
//# origin: bellard #546
return String(BigInt.asUintN(2 ** 40, -1n)).length;

//# class with many fields
//# kind: ok | memory | syntax
//# value: *
//# origin: own
class A { a0; a1; a2; a3; static #p = 1; static { this.q = this.#p; } }
return A.q;

//# private name of another class
//# kind: exception
//# origin: own
class A { #p = 1; static read(object) { return object.#p; } }
return A.read({});

//# destructuring of a Proxy
//# value: *
//# origin: own
const { a, ...rest } = new Proxy({ a: 1, b: 2 }, {});
return rest;

//# spread of holes
//# value: 3
//# origin: own
return [...[, , ,]].length;

//# date out of range
//# value: null
//# origin: own
return new Date(8.64e15 + 1);

//# label, switch and finally
//# value: 3
//# origin: own
function f() { outer: for (const a of [1, 2]) { try { switch (a) { case 1: continue outer; default: return 2; } } finally { if (a === 2) return 3; } } }
return f();

//# optional chain of delete
//# value: true
//# origin: own
return delete undefined?.a.b;

//# assignment in parameters
//# value: *
//# origin: own
return ((a, b = (a = 5), c = () => a) => c())(1);

//# arguments beyond those declared
//# value: 1000
//# origin: own
function f() { return arguments.length; }
return f(...new Array(1000));

//# string of many ropes
//# value: 100000
//# origin: quickjs-ng: ropes
let text = '';
for (let i = 0; i < 100_000; i++) text = text + 'a';
return text.length;

//# deep rope, read at once
//# value: *
//# origin: quickjs-ng: ropes
let text = '';
for (let i = 0; i < 100_000; i++) text = 'a' + text;
return text.charCodeAt(50_000);

//# atom that is a number
//# value: {"1":3,"4294967294":1,"4294967295":2}
//# origin: bellard #532, its kind
const object = {};
object[4294967294] = 1;
object['4294967295'] = 2;
object[1] = 3;
return object;

//# program without memory for its variables
//# kind: ok | memory | syntax
//# value: *
//# origin: bellard #532
const f = [() => { let a0, a1, a2, a3, a4, a5, a6, a7, a8, a9; return () => [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9]; }];
return f[0]()().length;

//# DisposableStack that disposes itself
//# kind: ok | exception
//# value: *
//# origin: own
const stack = new DisposableStack();
stack.defer(() => stack.dispose());
stack.dispose();
return stack.disposed;

//# structure of an Error with a cause of itself
//# kind: exception
//# says: a
//# origin: own
const error = new Error('a');
error.cause = error;
throw error;

//# AggregateError with errors that throw
//# kind: exception
//# origin: own
throw new AggregateError([{ get message() { throw new Error('read'); } }], 'all');

//# AggregateError with many errors
//# kind: exception
//# origin: own
throw new AggregateError(new Array(100_000).fill(new Error('x'.repeat(1000))));

//# message of a megabyte
//# kind: exception
//# origin: own
throw new Error('x'.repeat(1_000_000));

//# value that is a text of lone surrogates
//# value: "a\ufffdb"
//# origin: own
return 'a\ud800b';

//# key of lone surrogates
//# value: {"\ufffd":1}
//# origin: own
return { '\udfff': 1 };

//# arguments of lone surrogates
//# value: {"a":"\ufffd"}
//# origin: own
return await tools.echo({ a: '\ud800' });

//# message of lone surrogates
//# kind: exception
//# origin: own
throw new Error('\ud800');

//# print of lone surrogates and controls
//# value: 1
//# origin: own
console.log('\ud800\u0000\u001b[2J', { a: '\udfff' });
return 1;

//# text with every control character
//# value: 32
//# origin: own
return (await tools.echo({ a: String.fromCharCode(...Array.from({ length: 32 }, (_, i) => i)) })).a.length;
