//# then of Object.prototype
//# kind: exception | ok | deadlock
//# value: *
//# origin: own
Object.prototype.then = function (resolve) { resolve('poisoned'); };
return await tools.echo({ a: 1 });

//# toJSON of Object.prototype
//# kind: ok
//# value: 5
//# origin: own: what JSON.stringify does
Object.prototype.toJSON = () => 5;
return await tools.echo({ a: 1 });

//# setters of the fields of an answer
//# value: {"a":1}
//# origin: own
for (const name of ['a', 'resolve', 'reject', 'id', 'length', '0']) {
  Object.defineProperty(Object.prototype, name, { set() { throw new Error('poisoned'); }, configurable: true });
}
return await tools.echo({ a: 1 });

//# setter of the first element of arrays
//# value: [1,2]
//# origin: own
Object.defineProperty(Array.prototype, 0, { set() { throw new Error('poisoned'); }, configurable: true });
return (await tools.echo({ list: [1, 2] })).list;

//# iterator of arrays
//# value: [1,2]
//# origin: own
Array.prototype[Symbol.iterator] = null;
return (await tools.echo({ list: [1, 2] })).list;

//# methods of arrays
//# value: 3
//# origin: own
for (const name of Object.getOwnPropertyNames(Array.prototype)) {
  if (typeof Array.prototype[name] === 'function' && name !== 'constructor') Array.prototype[name] = () => { throw new Error('poisoned'); };
}
return await tools.math.add({ a: 1, b: 2 });

//# methods of maps
//# value: 3
//# origin: own
for (const type of [Map, Set, WeakMap, WeakSet]) {
  for (const name of Object.getOwnPropertyNames(type.prototype)) {
    if (name !== 'constructor') Object.defineProperty(type.prototype, name, { value: () => { throw new Error('poisoned'); } });
  }
}
return await tools.math.add({ a: 1, b: 2 });

//# WeakMap.prototype.set
//# value: [{"block":0,"call":1,"mimeType":"image/png","type":"image"}]
//# origin: CVE-2022-25893 in vm2
WeakMap.prototype.set = () => { throw new Error('poisoned'); };
WeakMap.prototype.get = () => 'poisoned';
return content(await tools.image({}));

//# methods of promises
//# value: 3
//# origin: own
Promise.prototype.then = () => { throw new Error('poisoned'); };
Promise.prototype.catch = null;
Promise.resolve = null;
return await tools.math.add({ a: 1, b: 2 });

//# constructor of promises
//# value: 3
//# origin: own
globalThis.Promise = function () { throw new Error('poisoned'); };
return await tools.math.add({ a: 1, b: 2 });

//# JSON
//# value: {"a":1}
//# origin: own
JSON.parse = () => 'poisoned';
JSON.stringify = () => 'poisoned';
return await tools.echo({ a: 1 });

//# constructor of errors
//# kind: tool
//# says: the server is restarting
//# origin: own
globalThis.Error = globalThis.TypeError = function () { throw 1; };
await tools.fail({});

//# fields of errors
//# kind: tool
//# says: the server is restarting
//# origin: own
for (const name of ['kind', 'tool', 'retryable', 'violations', 'message', 'name', 'call', 'stack']) {
  Object.defineProperty(Object.prototype, name, { get: () => 'forged', set() {}, configurable: true });
}
await tools.fail({});

//# fields of a caught error
//# value: ["unavailable","fail",true,"the server is restarting"]
//# origin: own
for (const name of ['kind', 'tool', 'retryable', 'message']) {
  Object.defineProperty(Error.prototype, name, { get: () => 'forged', set() {}, configurable: true });
}
try { await tools.fail({}); } catch (error) { return [error.kind, error.tool, error.retryable, error.message]; }

//# name and message of a failed call
//# kind: tool
//# says: other
//# origin: own
try { await tools.fail({}); } catch (error) { error.tool = 'secret'; error.kind = 'timeout'; error.message = 'other'; throw error; }

//# error with the fields of a failed call
//# kind: exception
//# says: ToolError: forged
//# origin: own
throw Object.assign(new Error('forged'), { name: 'ToolError', kind: 'unavailable', tool: 'secret', call: 1 });

//# prototype of an error
//# kind: exception
//# says: forged
//# origin: own
const error = new Error('forged');
Object.setPrototypeOf(error, ToolError.prototype);
throw error;

//# Reflect and Object
//# value: 3
//# origin: own
for (const type of [Reflect, Object]) for (const name of Object.getOwnPropertyNames(type)) { try { type[name] = null; } catch { } }
return await tools.math.add({ a: 1, b: 2 });

//# call, apply and bind
//# value: 3
//# origin: own
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error('poisoned'); };
return await tools.math.add({ a: 1, b: 2 });

//# prototype of functions
//# value: 3
//# origin: vm2 #186
Object.setPrototypeOf(Function.prototype, null);
return await tools.math.add({ a: 1, b: 2 });

//# String and Symbol
//# value: 3
//# origin: own
globalThis.String = globalThis.Symbol = null;
String = null;
return await tools.math.add({ a: 1, b: 2 });

//# methods of strings
//# value: 3
//# origin: own
for (const name of Object.getOwnPropertyNames(''.__proto__)) {
  if (name !== 'constructor' && name !== 'length') ''.__proto__[name] = () => { throw new Error('poisoned'); };
}
return await tools.math.add({ a: 1, b: 2 });

//# globals of the host
//# value: 3
//# origin: own
const { math } = tools;
for (const name of ['tools', 'call', 'ToolError', 'console', 'content', 'show', 'sleep']) globalThis[name] = null;
return await math.add({ a: 1, b: 2 });

//# has of Object.prototype
//# value: false
//# origin: vm2 #178
Object.prototype.has = () => true;
return 'slack' in tools;

//# apply of Object.prototype
//# value: 3
//# origin: vm2 #178
Object.prototype.apply = () => { throw new Error('poisoned'); };
Object.prototype.get = () => { throw new Error('poisoned'); };
return await tools.math.add({ a: 1, b: 2 });

//# Object.create
//# value: 3
//# origin: vm2 #178
Object.create = () => { throw new Error('poisoned'); };
return await tools.math.add({ a: 1, b: 2 });

//# __proto__ in arguments
//# value: {"__proto__":{"admin":true}}
//# origin: own
const result = await tools.echo(JSON.parse('{"__proto__":{"admin":true}}'));
if ({}.admin) throw new Error('poisoned');
return result;

//# __proto__ in a Map
//# value: {"__proto__":1}
//# origin: own
return new Map([['__proto__', 1]]);

//# constructor in arguments
//# value: {"constructor":{"prototype":{"admin":true}}}
//# origin: own
return await tools.echo({ constructor: { prototype: { admin: true } } });

//# result with then
//# value: {"then":"now"}
//# origin: own
return await tools.echo({ then: 'now' });

//# arguments that change while they are read
//# value: {"b":2}
//# origin: own
const args = { get a() { delete args.b; args.b = 2; return undefined; }, b: 1 };
return await tools.echo(args);

//# arguments whose getter calls a tool
//# value: {"a":1}
//# origin: own
let inner;
const result = await tools.echo({ get a() { inner = tools.math.add({ a: 1, b: 1 }); return 1; } });
await inner;
return result;

//# arguments that are a Proxy
//# value: {"a":1}
//# origin: own
return await tools.echo(new Proxy({ a: 1 }, {}));

//# arguments that are a revoked Proxy
//# kind: exception
//# says: revoked
//# origin: own
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
await tools.echo({ a: proxy });

//# value that is a revoked Proxy
//# kind: exception
//# says: revoked
//# origin: own
const { proxy, revoke } = Proxy.revocable([], {});
revoke();
return { proxy };

//# print of a revoked Proxy
//# kind: exception | ok
//# value: 1
//# origin: own
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
console.log(proxy);
return 1;

//# throw of a revoked Proxy
//# kind: exception
//# origin: own
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
throw proxy;

//# ownKeys that lies
//# kind: exception | ok
//# value: *
//# origin: own
return new Proxy({}, { ownKeys: () => ['a', 'a'] });

//# ownKeys that throws
//# kind: exception
//# says: no keys
//# origin: own
return new Proxy({}, { ownKeys() { throw new Error('no keys'); } });

//# Map without a Map
//# kind: exception
//# origin: own
return Object.create(Map.prototype);

//# Date without a Date
//# kind: exception
//# origin: own
return Object.create(Date.prototype);

//# typed array without one
//# kind: exception
//# origin: own
return Object.create(Uint8Array.prototype);

//# detached buffer
//# value: []
//# origin: own
const bytes = new Uint8Array(4);
bytes.buffer.transfer();
return bytes;

//# boxed without a box
//# kind: exception
//# origin: own
return Object.create(Number.prototype);

//# hasInstance of Map
//# value: {"a":1}
//# origin: own
Object.defineProperty(Map, Symbol.hasInstance, { value: () => true });
return { a: 1 };

//# toStringTag
//# value: {"a":1}
//# origin: own
return { a: 1, get [Symbol.toStringTag]() { throw new Error('read'); } };

//# error whose fields throw
//# kind: exception
//# origin: own
throw Object.defineProperty(new Error('a'), 'message', { get() { throw new Error('b'); } });

//# error whose name is an object
//# kind: exception
//# origin: own
throw Object.assign(new Error('a'), { name: { toString: null, valueOf: null } });

//# error with a stack of its own
//# kind: exception
//# origin: own
throw Object.defineProperty(new Error('a'), 'stack', { value: '    at f (program.js:999999999999:1)' });

//# stack with a place that does not exist
//# kind: exception
//# says: a
//# origin: own
const error = new Error('a');
error.stack = '    at f (program.js:4000000000:4000000000)';
throw error;

//# stack with the place zero
//# kind: exception
//# says: a
//# origin: own
const error = new Error('a');
error.stack = '    at f (program.js:0:0)';
throw error;

//# error in a rejected promise that nothing awaits
//# value: 1
//# says: not awaited
//# origin: own
Promise.reject(Object.defineProperty(new Error('a'), 'message', { get() { throw 1; } }));
return 1;

//# rejection with itself
//# value: 1
//# origin: own
const error = {};
error.error = error;
Promise.reject(error);
return 1;

//# __out with a getter
//# kind: exception | ok
//# value: *
//# origin: own
Object.defineProperty(globalThis, '__out', { get() { throw new Error('read'); } });
return 1;

//# __out that nothing can read
//# value: 1
//# origin: own
delete globalThis.__out;
return 1;

//# valueOf of a number of milliseconds
//# value: 1
//# origin: own
await sleep({ valueOf() { throw new Error('read'); } });
return 1;

//# random numbers of the program
//# value: [true,false]
//# origin: own
const a = Math.random();
return [a >= 0 && a < 1, a === Math.random()];

//# random numbers that are replaced
//# value: 3
//# origin: own
Math.random = () => { throw new Error('poisoned'); };
Date.now = () => { throw new Error('poisoned'); };
return await tools.math.add({ a: 1, b: 2 });

//# original Date
//# value: [1700000000000,1700000000000,true]
//# origin: own
const Original = new Date().constructor;
return [Original.now(), new Original().getTime(), Original === Date];

//# Date by Reflect
//# value: 1700000000000
//# origin: own
return Reflect.construct(Date, []).getTime();

//# Date of a subclass
//# value: 1700000000000
//# origin: own
class Mine extends Date { }
return new Mine().getTime();

//# zone of the host
//# value: [0,"2023-11-14T22:13:20.000Z",22]
//# origin: own
const now = new Date();
return [now.getTimezoneOffset(), now.toJSON(), now.getHours()];
