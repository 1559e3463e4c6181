//# constructor of the constructor of this
//# kind: exception
//# says: a program cannot compile text
//# origin: vm2 #32
return this.constructor.constructor('return process')().exit();

//# constructor of an arrow function
//# kind: exception
//# says: a program cannot compile text
//# origin: vm2 #32
return (() => {}).constructor('return this')().process;

//# constructor of an asynchronous function
//# kind: exception
//# says: a program cannot compile text
//# origin: CVE-2023-29017 in vm2
return (async () => {}).constructor('return process')();

//# constructor of a generator
//# kind: exception
//# says: a program cannot compile text
//# origin: own
return (function* () {}).constructor('yield process')().next();

//# constructor of an asynchronous generator
//# kind: exception
//# says: a program cannot compile text
//# origin: own
return (async function* () {}).constructor('yield process')().next();

//# prototype of the constructor of an asynchronous function
//# kind: exception
//# says: a program cannot compile text
//# origin: own
return Object.getPrototypeOf((async () => {}).constructor).constructor('return process')();

//# Reflect.construct of a constructor
//# kind: exception
//# says: a program cannot compile text
//# origin: own
return Reflect.construct((() => {}).constructor, ['return process'])();

//# class that extends the constructor of functions
//# kind: exception
//# origin: own
class F extends (() => {}).constructor { }
return new F('return process')();

//# constructor with another new.target
//# kind: exception
//# origin: own
return Reflect.construct(Function, ['return process'], Array)();

//# constructor restored
//# kind: exception
//# origin: own
delete Function.prototype.constructor;
return (() => {}).constructor('return process')();

//# constructor redefined
//# kind: exception
//# origin: own
Object.defineProperty(Function.prototype, 'constructor', { get: () => Function });

//# descriptor of the constructor
//# kind: exception
//# says: a program cannot compile text
//# origin: own
return Object.getOwnPropertyDescriptor(Function.prototype, 'constructor').value('return process')();

//# functions that remain
//# value: []
//# origin: own
const found = [];
const seen = new Set();
const visit = (object, path) => {
  if (object === null || (typeof object !== 'object' && typeof object !== 'function') || seen.has(object)) return;
  seen.add(object);
  if (typeof object === 'function') {
    let made;
    try { made = object('return 7'); } catch { }
    try { if (typeof made === 'function' && made() === 7) found.push(path); } catch { }
  }
  if (path.split('.').length > 4) return;
  for (const name of Reflect.ownKeys(object)) {
    let value;
    try { value = object[name]; } catch { }
    visit(value, `${path}.${String(name)}`);
  }
  visit(Object.getPrototypeOf(object), `${path}.proto`);
};
for (const name of ['Object', 'Array', 'Promise', 'Reflect', 'Iterator', 'Error', 'Symbol', 'Date', 'console', 'ToolError']) {
  visit(globalThis[name], name);
}
visit(async function* () {}, 'generator');
return found;

//# eval by another name
//# kind: exception
//# origin: own
return (0, globalThis['ev' + 'al'])('process');

//# eval from the global object
//# value: []
//# origin: own
return Reflect.ownKeys(globalThis).filter((name) => ['eval', 'WeakRef', 'FinalizationRegistry', 'Atomics',
  'SharedArrayBuffer', 'performance', 'process', 'require', 'std', 'os', 'bjson', 'scriptArgs', 'gc', 'Worker',
  'navigator', '__loadScript', 'print_'].includes(name));

//# timer with text
//# kind: exception
//# says: setTimeout takes a function
//# origin: own
setTimeout('process.exit()', 1);

//# import of a module of the host
//# kind: exception
//# origin: CVE-2021-23449 in vm2
const module = await import('./foo.js');
return module.toString.constructor('return this')().process;

//# promise of an import
//# kind: exception
//# says: a program cannot compile text
//# origin: CVE-2021-23449 in vm2
const promise = import('os');
promise.catch(() => {});
return promise.toString.constructor('return this')().process;

//# import of QuickJS modules
//# value: [true,true,true]
//# origin: own
const failed = async (name) => { try { await import(name); return false; } catch { return true; } };
return [await failed('std'), await failed('os'), await failed('qjs:os')];

//# import.meta
//# kind: syntax
//# origin: own
return import.meta.url;

//# frames of an error
//# value: "undefined"
//# origin: CVE-2022-36067 in vm2
const Old = Error;
globalThis.Error = {};
let found;
globalThis.Error.prepareStackTrace = (error, frames) => { found = frames[0].getThis(); return ''; };
const { stack } = new Old('a');
return typeof found;

//# frames of an error of the program
//# value: "string"
//# origin: CVE-2021-23555 in vm2
Error.prepareStackTrace = (error, frames) => frames;
return typeof new Error('a').stack;

//# functions in frames
//# value: "undefined"
//# origin: CVE-2023-29017 in vm2
let frames;
Error.prepareStackTrace = (error, list) => { frames = list; return 'a'; };
try { await tools.fail({}); } catch (error) { error.stack; }
try { null.a; } catch (error) { error.stack; }
return typeof frames;

//# captureStackTrace
//# kind: exception
//# origin: CVE-2023-29017 in vm2
const object = {};
Error.captureStackTrace(object);

//# stack of the host
//# value: "contained"
//# origin: own
function depth() { try { return depth(); } catch (error) { return error.stack; } }
const stack = String(depth());
return /\.rs|\/work|\/root|0x/.test(stack) ? stack : 'contained';

//# error of a stack overflow
//# kind: exception | memory
//# origin: CVE-2019-10761 in vm2
function f() { new Error().stack; f(); }
try { f(); } catch (error) { error.constructor.constructor('return process')().exit(); }

//# proxied error in a catch
//# kind: exception | memory
//# origin: CVE-2023-30547 in vm2
const handler = { getPrototypeOf() { (function stack() { new Error().stack; stack(); })(); } };
try {
  throw new Proxy({}, handler);
} catch ({ constructor: c }) {
  c.constructor('return process')().mainModule.require('child_process').execSync('touch pwned');
}

//# apply trap of toString of a name
//# kind: exception
//# origin: CVE-2023-32314 in vm2
const error = new Error();
error.name = { toString: new Proxy(() => '', { apply: (target, self, args) => args.constructor.constructor('return process')() }) };
return `${error}`;

//# species of a promise
//# kind: exception | memory | deadlock | ok
//# origin: CVE-2023-37466 in vm2
async function fn() { (function stack() { new Error().stack; stack(); })(); }
const p = fn();
p.constructor = { [Symbol.species]: class { constructor(executor) { executor((x) => x, (error) => error.constructor.constructor('return process')()); } } };
await p.then();

//# inspect of the host
//# value: "contained"
//# origin: CVE-2023-37903 in vm2
let found;
const object = { [Symbol.for('nodejs.util.inspect.custom')]: (depth, options, inspect) => { found = inspect.constructor('return process')(); } };
console.log(object);
return found ?? 'contained';

//# symbol as the name of an error
//# kind: exception
//# origin: CVE-2026-22709 in vm2
const error = new Error();
error.name = Symbol();
const f = async () => error.stack.constructor.constructor('return process')();
await f();

//# WebAssembly
//# kind: exception
//# says: WebAssembly is not defined
//# origin: CVE-2023-37903 in vm2
await WebAssembly.compileStreaming({});

//# getPrototypeOf that throws a function
//# kind: exception
//# origin: vm2 #174
throw new Proxy({}, { getPrototypeOf: () => { throw (x) => x.constructor.constructor('return process')(); } });

//# construct trap that returns a function
//# kind: exception
//# origin: vm2 #179
const made = new (new Proxy(class A { }, { construct: () => function () { return this; } }))();
return Object.getPrototypeOf(made).constructor.constructor('return process')();

//# getter in a property descriptor
//# kind: exception
//# origin: vm2 #178
Object.defineProperty(Object.prototype, 'set', { get() { throw (x) => x.constructor('return process')(); }, configurable: true });
Object.defineProperty({}, 'a', {});

//# hasInstance
//# kind: exception
//# says: a program cannot compile text
//# origin: vm2 #178
Object.defineProperty(Object, Symbol.hasInstance, { value: () => true });
return tools.echo.constructor('return process')();

//# __defineGetter__ on a function of the host
//# value: 3
//# origin: vm2 #176
tools.math.add.__proto__.__defineGetter__('call', () => { throw 1; });
return await tools.math.add({ a: 1, b: 2 });

//# __lookupGetter__ of a function of the host
//# value: "undefined"
//# origin: vm2 #184
return typeof Object.prototype.__lookupGetter__.call(tools, 'a');

//# getOwnPropertyDescriptor of tools
//# kind: exception
//# says: a program cannot compile text
//# origin: vm2 #178
return Object.getOwnPropertyDescriptor(tools.math, 'add').value.constructor('return process')();

//# caller of a function
//# kind: exception
//# origin: own
function f() { return f.caller; }
return f().constructor;

//# callee of arguments
//# kind: exception
//# origin: own
function f() { return arguments.callee; }
return f();

//# with
//# kind: syntax
//# origin: own
with (globalThis) { }

//# this of a plain function
//# value: "undefined"
//# origin: own
function f() { return typeof this; }
return f();

//# this of a function of the host
//# value: 2
//# origin: own
const { add } = tools.math;
return await add.call({ process: 1 }, { a: 1, b: 1 });

//# handlers of tools
//# kind: exception
//# says: tools cannot be changed
//# origin: own
tools.math = {};

//# definition of a tool
//# kind: exception
//# origin: own
Object.defineProperty(tools.math, 'add', { value: () => 5 });

//# deletion of a tool
//# kind: exception
//# origin: own
delete tools.math.add;

//# prototype of tools
//# kind: exception | ok
//# value: *
//# origin: own
Object.setPrototypeOf(tools, { secret: 1 });
return tools.secret;

//# ToolError with a call of another
//# kind: exception
//# says: ToolError cannot be constructed
//# origin: own
throw new ToolError({}, 1, 'unavailable', 'forged', 'fail');

//# ToolError without its constructor
//# kind: exception
//# origin: own
const error = Object.create(ToolError.prototype);
Object.assign(error, { kind: 'unavailable', tool: 'secret' });
throw error;

//# ToolError by a subclass
//# kind: exception
//# origin: own
class Forged extends ToolError { constructor() { super({}, 1, 'a', 'b', 'c', true); } }
throw new Forged();

//# constructor of a ToolError
//# kind: exception
//# says: a program cannot compile text
//# origin: own
try { await tools.fail({}); } catch (error) { return error.constructor.constructor('return process')(); }

//# secret of the constructor
//# kind: exception
//# origin: own
let key;
try { await tools.fail({}); } catch (error) { throw new error.constructor(error, 1, 'a', 'b', 'c'); }

//# stack of a ToolError
//# value: "contained"
//# origin: own
try { await tools.fail({}); } catch (error) { return /\.rs|\/work|0x/.test(error.stack) ? error.stack : 'contained'; }

//# end of the wrapper
//# kind: syntax | ok
//# value: *
//# origin: own
return 1; }); (async () => { for (;;) { break; } return 2;

//# comment that swallows the wrapper
//# value: 1
//# origin: own
return 1; //

//# open comment
//# kind: syntax
//# origin: own
return 1; /*

//# open template
//# kind: syntax
//# origin: own
return `

//# end of a script in a string
//# value: "</script>"
//# origin: own
return '</script>';

//# HTML comment
//# kind: syntax | ok
//# value: *
//# origin: own
<!-- return 1
return 2;

//# NUL in the text
//# kind: exception | syntax | ok
//# value: *
//# origin: own
return 'a\0b'.length;

//# line separators
//# kind: exception
//# place: 1:29
//# origin: own
const a = {}; /*  */ return a.b.c;

//# hashbang
//# kind: syntax | ok
//# value: *
//# origin: own
#!/bin/sh
return 1;

//# other names by Unicode escapes
//# kind: exception
//# says: eval is not defined
//# origin: own
\u0065val('1');

//# tagged template
//# kind: exception
//# says: a program cannot compile text
//# origin: own
return ''.constructor.constructor`return process`();

//# getter of a Symbol
//# kind: exception
//# says: a program cannot compile text
//# origin: own
return Symbol.prototype[Symbol.toPrimitive].constructor('return 1')();

//# Iterator helpers
//# kind: exception
//# says: a program cannot compile text
//# origin: own
return Iterator.from([1]).map.constructor('return process')();

//# console of the host
//# kind: exception
//# says: a program cannot compile text
//# origin: vm2 #32
return console.log.constructor.constructor('return process')();

//# functions of the host from the program
//# value: ["content","show","sleep","tools"]
//# origin: own
return ['content', 'host', 'pending', 'prelude', 'request', 'secret', 'settle', 'show', 'sleep', 'tools']
  .filter((name) => name in globalThis);

//# lost lexical names
//# value: ["undefined","undefined","undefined","undefined"]
//# origin: own
return [typeof host, typeof settle, typeof pending, typeof secret];
