//# endless for
//# kind: steps
//# origin: own
for (;;) {}

//# endless while inside try
//# kind: steps
//# origin: own
while (true) { try { while (true) {} } catch { } finally { } }

//# endless do with continue
//# kind: steps
//# origin: own
do { continue; } while (true);

//# endless finally
//# kind: steps
//# origin: own
function f() { for (;;) { try { return 1; } finally { continue; } } }
return f();

//# labels
//# kind: steps
//# origin: own
outer: for (;;) { for (;;) continue outer; }

//# endless generator
//# kind: steps
//# origin: own
function* numbers() { for (let i = 0; ; i++) yield i; }
for (const n of numbers()) { }

//# spread of an endless generator
//# kind: steps | memory
//# origin: own
function* zeros() { for (;;) yield 0; }
return [...zeros()];

//# endless iterator
//# kind: steps
//# origin: own
const endless = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) };
for (const one of endless) { }

//# destructuring of an endless iterator
//# kind: steps | memory
//# origin: own
const [...all] = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) };

//# Array.from of an endless iterator
//# kind: steps | memory
//# origin: own
Array.from({ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) });

//# Map of an endless iterator
//# kind: steps | memory
//# origin: own
let i = 0;
new Map({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: [i++, i] }) }) });

//# endless microtasks by await
//# kind: steps
//# origin: own, measured in the prototype: 15.7 s without a count of jobs
for (;;) await null;

//# endless microtasks by then
//# kind: steps | memory
//# origin: own
function again() { return Promise.resolve().then(again); }
await again();

//# endless microtasks by queueMicrotask
//# kind: steps
//# origin: own
const again = () => queueMicrotask(again);
again();
await sleep(1);

//# microtasks that nothing awaits
//# kind: steps
//# origin: own
(async () => { for (;;) await 0; })();
return 1;

//# microtasks that double
//# kind: steps | memory
//# origin: own
const fork = async () => { await 0; fork(); fork(); };
await fork();
await new Promise(() => {});

//# endless asynchronous iteration
//# kind: steps
//# origin: own
async function* ticks() { for (;;) yield 1; }
for await (const tick of ticks()) { }

//# thenable that resolves to itself again
//# kind: steps | memory
//# origin: own
const thenable = () => ({ then(resolve) { resolve(thenable()); } });
await thenable();

//# catch of everything, for ever
//# kind: steps
//# origin: own
for (;;) { try { null.x; } catch { } }

//# catch of failed calls, for ever
//# kind: steps
//# origin: own
for (;;) { try { tools.math.unknown; } catch { } }

//# exponential backtracking
//# kind: steps
//# origin: own
return /^(a+)+$/.test('a'.repeat(40) + '!');

//# exponential backtracking with alternatives
//# kind: steps
//# origin: own
return /^(a|aa)+$/.test('a'.repeat(60) + '!');

//# backtracking in replace
//# kind: steps
//# origin: own
return 'x'.repeat(40).replace(/(x+x+)+y/, '');

//# backtracking in split
//# kind: steps
//# origin: own
return ('x'.repeat(40) + ' ').split(/(x+x+)+y/);

//# backtracking with lookbehind
//# kind: steps | exception | ok
//# origin: own
return /(?<=(a+)+b)c/.test('a'.repeat(40) + 'c');

//# replace with a function that never ends
//# kind: steps
//# origin: own
return 'a'.replace(/a/, () => { for (;;) { } });

//# sort with a comparison that lies
//# kind: steps | ok
//# origin: own
return [3, 1, 2].sort(() => { let n = 0; while (n < 1e9) n++; return -1; });

//# sort of a large array with a random comparison
//# kind: steps | ok
//# value: *
//# origin: own
return Array.from({ length: 2000 }, (_, i) => i).sort(() => Math.random() - 0.5).length;

//# indexOf over 2^32
//# kind: steps
//# origin: quickjs-ng #1672
return Array.prototype.indexOf.call({ length: 2 ** 32 }, 1);

//# includes over 2^53
//# kind: steps
//# origin: quickjs-ng #1672
return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);

//# every over 2^53
//# kind: steps
//# origin: quickjs-ng #1672
return Array.prototype.every.call({ length: 2 ** 53 - 1 }, () => true);

//# some over 2^53
//# kind: steps
//# origin: quickjs-ng #1672
return Array.prototype.some.call({ length: 2 ** 53 - 1 }, () => false);

//# forEach over 2^53
//# kind: steps
//# origin: quickjs-ng #1672
Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, () => {});

//# reduce over 2^53
//# kind: steps | time | exception
//# origin: own
Array.prototype.reduce.call({ length: 2 ** 53 - 1 }, () => {}, 0);

//# lastIndexOf over 2^53
//# kind: time | steps
//# origin: quickjs-ng #1672, JS-Interpreter #207
//# needs: process
return Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1);

//# text of a sparse array
//# kind: time | memory
//# origin: quickjs-emscripten #219: 78 s without a poll
//# needs: process
return new Array(1e9) + '';

//# reverse over 2^53
//# kind: time | steps
//# origin: JS-Interpreter #207
//# needs: process
Array.prototype.reverse.call({ length: 2 ** 53 - 1 });

//# shift over 2^53
//# kind: time | steps
//# origin: JS-Interpreter #207
//# needs: process
Array.prototype.shift.call({ 0: 1, length: 2 ** 53 - 1 });

//# sort over 2^53
//# kind: time | memory | exception
//# origin: JS-Interpreter #207
//# needs: process
Array.prototype.sort.call({ 0: 1, length: 2 ** 53 - 1 });

//# fill over 2^53
//# kind: time | memory | exception
//# origin: own
//# needs: process
Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0);

//# copyWithin over 2^53
//# kind: time | steps
//# origin: own
//# needs: process
Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1);

//# power of big integers
//# kind: time | memory | exception
//# origin: bellard #546, F-001
//# needs: process
return String(7n ** 30_000_000n).length;

//# product of big integers
//# kind: time | memory | steps | exception
//# origin: bellard #546, F-001
//# needs: process
let n = 3n;
for (let i = 0; i < 40; i++) n *= n;
return n > 0n;

//# text of a big integer
//# kind: time | memory | exception | ok
//# origin: bellard #546, F-001
//# needs: process
return ((1n << 8_000_000n) - 1n).toString().length;

//# Proxy whose trap loops
//# kind: steps
//# origin: own
const proxy = new Proxy({}, { get() { for (;;) { } } });
return proxy.a;

//# Proxy that is its own prototype
//# kind: steps | exception | memory
//# origin: own
const proxy = new Proxy({}, { getPrototypeOf: () => proxy });
return proxy instanceof Object;

//# prototype chain of proxies without end
//# kind: exception | steps | memory
//# origin: own
const handler = { getPrototypeOf: (target) => new Proxy({}, handler) };
return Object.prototype.isPrototypeOf.call(Array.prototype, new Proxy({}, handler));

//# for-in over a Proxy without end
//# kind: steps | memory | exception | ok
//# value: *
//# origin: own
const handler = { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) };
handler.getPrototypeOf = () => new Proxy({}, handler);
for (const key in new Proxy({}, handler)) { }

//# getter in the value that loops
//# kind: steps
//# origin: own
return { get a() { for (;;) { } } };

//# toJSON in the value that loops
//# kind: steps
//# origin: own
return { toJSON() { for (;;) { } } };

//# getter in arguments that loops
//# kind: steps
//# origin: own
await tools.echo({ get a() { for (;;) { } } });

//# toString of a thrown error that loops
//# kind: steps
//# origin: own
throw Object.assign(new Error('a'), { get message() { return 1; }, name: { toString() { for (;;) { } } } });

//# message of a thrown error that loops
//# kind: steps
//# origin: own
const error = new Error('a');
Object.defineProperty(error, 'message', { get() { for (;;) { } } });
throw error;

//# printing a getter that loops
//# kind: steps
//# origin: own
console.log({ get a() { for (;;) { } } });

//# value that grows while it is read
//# value: [1]
//# origin: own
const list = [];
list.push({ toJSON() { list.push(list[0]); return 1; } });
return list;

//# keys that grow while they are read
//# value: *
//# origin: own
const object = { get a() { object['k' + Object.keys(object).length] = 1; return 1; } };
return Object.keys(object).length > 0 && object.a;

//# valueOf that loops
//# kind: steps
//# origin: own
return +{ valueOf() { for (;;) { } } };

//# Symbol.toPrimitive that loops
//# kind: steps
//# origin: own
return `${{ [Symbol.toPrimitive]() { for (;;) { } } }}`;

//# species that loops
//# kind: steps
//# origin: own
const list = [1, 2, 3];
list.constructor = { get [Symbol.species]() { for (;;) { } } };
return list.map((a) => a);

//# JSON.parse with a reviver that loops
//# kind: steps
//# origin: own
JSON.parse('[1]', () => { for (;;) { } });

//# class fields that loop
//# kind: steps
//# origin: own
class Endless { field = (() => { for (;;) { } })(); }
new Endless();

//# static block that loops
//# kind: steps
//# origin: own
class Endless { static { for (;;) { } } }

//# default parameter that loops
//# kind: steps
//# origin: own
((a = (() => { for (;;) { } })()) => a)();

//# timers without end
//# kind: deadlock | steps | ok
//# value: 1
//# origin: own
let n = 0;
const tick = () => { if (n++ < 50) setTimeout(tick, 1); };
tick();
return 1;

//# printing without end
//# kind: steps
//# says: bytes of output were dropped
//# origin: own
for (;;) console.log('x'.repeat(100));

//# printing large values without end
//# kind: steps
//# origin: own
const large = Array.from({ length: 20_000 }, (_, i) => i);
for (;;) console.log(large);

//# Symbol.species of typed arrays
//# kind: steps | exception
//# origin: own
class Endless extends Uint8Array { constructor(...args) { super(...args); for (;;) { } } }
new Endless(1);

//# string concatenation in a loop
//# kind: steps | memory
//# origin: own
let text = '';
for (;;) text += 'a';

//# comma and void
//# kind: steps
//# origin: own
for (; void 0 === undefined, true;);

//# endless optional chain
//# kind: steps
//# origin: own
let node = {};
node.next = node;
while (node?.next) node = node.next;

//# loop in the handler of a failed call
//# kind: steps
//# origin: own
await tools.fail({}).catch(() => { for (;;) { } });

//# loop in finally of a promise
//# kind: steps
//# origin: own
await tools.math.add({ a: 1, b: 1 }).finally(() => { for (;;) { } });

//# loop in what nothing awaits
//# kind: steps
//# origin: own
tools.math.add({ a: 1, b: 1 }).then(() => { for (;;) { } });
return 1;

//# long loop of array methods
//# kind: steps
//# origin: own
let list = [1];
for (;;) list = list.map((a) => a + 1).filter(Boolean);
