// What a program finds beside the language: a module that sets a global function, which the host takes away before the
// program. It is called with the functions of the host, and returns those by which the host drives the program.
//
// A program may replace every property of every built-in object afterwards. Therefore each function is captured here,
// no array is iterated or spread, and records have no prototype.
globalThis.prelude = function (host) {
    const { freeze, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, keys } = Object;
    const { apply, construct, ownKeys } = Reflect;
    const { isArray } = Array;
    const { parse, rawJSON } = JSON;
    const { isSafeInteger } = Number;
    const NativeBigInt = BigInt;
    const uncurry = Function.prototype.bind.bind(Function.prototype.call);
    const NativePromise = Promise;
    const NativeError = Error;
    const NativeTypeError = TypeError;
    const NativeRangeError = RangeError;
    const NativeProxy = Proxy;
    const then = uncurry(Promise.prototype.then);
    const isPrototypeOf = uncurry(Object.prototype.isPrototypeOf);
    const mapGet = uncurry(Map.prototype.get);
    const mapSet = uncurry(Map.prototype.set);
    const mapDelete = uncurry(Map.prototype.delete);
    const mapForEach = uncurry(Map.prototype.forEach);
    const setForEach = uncurry(Set.prototype.forEach);
    const weakGet = uncurry(WeakMap.prototype.get);
    const weakSet = uncurry(WeakMap.prototype.set);
    const stackOf = uncurry(getOwnPropertyDescriptor(Error.prototype, 'stack').get);
    const prototypes = {
        __proto__: null,
        buffer: ArrayBuffer.prototype,
        date: Date.prototype,
        error: Error.prototype,
        map: Map.prototype,
        object: Object.prototype,
        regexp: RegExp.prototype,
        set: Set.prototype,
        typed: getPrototypeOf(Uint8Array.prototype),
    };
    const bigPrototype = BigInt.prototype;
    const bigValue = uncurry(BigInt.prototype.valueOf);
    const boxes = [Number, String, Boolean];
    for (let i = 0; i < boxes.length; i++) {
        boxes[i] = { __proto__: null, prototype: boxes[i].prototype, valueOf: uncurry(boxes[i].prototype.valueOf) };
    }
    const toIso = uncurry(Date.prototype.toISOString);
    const toTime = uncurry(Date.prototype.getTime);
    const toText = uncurry(RegExp.prototype.toString);
    const bigToText = uncurry(BigInt.prototype.toString);
    const slice = uncurry(String.prototype.slice);
    const charCode = uncurry(String.prototype.charCodeAt);
    const indexOf = uncurry(String.prototype.indexOf);
    const { fromCharCode } = String;
    const NativeMap = Map;
    const NativeSet = Set;
    const NativeRegExp = RegExp;
    const mapHas = uncurry(Map.prototype.has);
    const setAdd = uncurry(Set.prototype.add);
    const bufferSlice = uncurry(ArrayBuffer.prototype.slice);
    const typedSlice = uncurry(prototypes.typed.slice);
    const trim = uncurry(String.prototype.trim);
    const functionText = uncurry(Function.prototype.toString);
    const execute = uncurry(RegExp.prototype.exec);
    const functionHead = /^(?:async\b\s*)?(?:function\b[\s*]*[\w$]*\s*)?(?:\(([^)]*)\)|([\w$]+)\s*=>)/;
    const identifier = /^[A-Za-z_$][\w$]*$/;
    const includes = uncurry(String.prototype.includes);
    const wellFormed = uncurry(String.prototype.toWellFormed);
    const NativeUint8Array = Uint8Array;
    const typedLength = uncurry(getOwnPropertyDescriptor(prototypes.typed, 'length').get);

    const define = (object, name, value) =>
        defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

    // Calls. A request of the program gets an id from the host, which answers it with `settle`.

    const pending = new Map();
    const request = (kind, first, second) => {
        const id = host.request(kind, first, second, stackOf(new NativeError()));
        return new NativePromise((resolve, reject) => {
            mapSet(pending, id, { __proto__: null, resolve, reject });
        });
    };

    const secret = {};
    class ToolError extends NativeError {
        #call;
        constructor(key, call, kind, message, tool, retryable, violations, stack) {
            if (key !== secret) throw new NativeTypeError('ToolError cannot be constructed: throw an Error');
            super(message);
            this.#call = call;
            define(this, 'stack', stack);
            define(this, 'kind', kind);
            define(this, 'tool', tool);
            define(this, 'retryable', retryable);
            define(this, 'violations', violations);
        }
        static callOf(error) {
            return #call in error ? error.#call : 0;
        }
    }
    const callOf = ToolError.callOf;
    delete ToolError.callOf;
    define(ToolError.prototype, 'name', 'ToolError');

    // A number would round an integer above 2^53, so it is read as a BigInt.
    let bigField;
    const exact = function (key, value, { source }) {
        if (typeof value !== 'number' || isSafeInteger(value)) return value;
        try {
            const big = NativeBigInt(source);
            bigField ??= key;
            return big;
        } catch {
            return value;
        }
    };
    define(JSON, 'parse', function (text, reviver) {
        const big = reviver === undefined && typeof text === 'string' && host.hasBigIntegers(text);
        return parse(text, big ? exact : reviver);
    });
    defineProperty(JSON.parse, 'name', { __proto__: null, value: 'parse', configurable: true });
    define(BigInt.prototype, 'toJSON', function toJSON() {
        return rawJSON(bigToText(this));
    });

    const contents = new WeakMap();
    const settle = (id, ok, text, content, big, kind, tool, retryable, violations, stack) => {
        const waiting = mapGet(pending, id);
        mapDelete(pending, id);
        if (!ok) {
            const list = violations === undefined ? undefined : parse(violations);
            waiting.reject(new ToolError(secret, id, kind, text, tool, retryable, list, stack));
            return;
        }
        let result = big ? parse(text, exact) : parse(text);
        if (content !== undefined) {
            const blocks = parse(content);
            // The result has no structured value.
            if (text === 'null') result = { content: blocks };
            if (typeof result === 'object') weakSet(contents, result, blocks);
        }
        waiting.resolve(result);
    };

    // The tools by their names. Names are looked up when they are used: a catalog may have thousands.

    const nodes = new Map();
    const nothing = { __proto__: null, then: true, toJSON: true };
    const child = (path, name) => (path === '' ? name : path + '.' + name);
    const handler = (path) => ({
        __proto__: null,
        get(target, name) {
            if (typeof name === 'symbol') return undefined;
            const next = child(path, name);
            const known = mapGet(nodes, next);
            if (known !== undefined) return known;
            if (!host.exists(next)) {
                if (name in nothing) return undefined;
                if (name in prototypes.object) return prototypes.object[name];
            }
            return node(next);
        },
        has: (target, name) => typeof name === 'string' && host.exists(child(path, name)),
        ownKeys: () => parse(host.members(path)),
        getOwnPropertyDescriptor(target, name) {
            if (typeof name !== 'string' || !host.exists(child(path, name))) return undefined;
            return { __proto__: null, value: node(child(path, name)), enumerable: true, configurable: true };
        },
        set() {
            throw new NativeTypeError('tools cannot be changed');
        },
        defineProperty() {
            throw new NativeTypeError('tools cannot be changed');
        },
        deleteProperty() {
            throw new NativeTypeError('tools cannot be changed');
        },
        getPrototypeOf: () => null,
    });
    const node = (path) => {
        const known = mapGet(nodes, path);
        if (known !== undefined) return known;
        const id = host.tool(path);
        let made;
        if (id === undefined) {
            made = () => {
                throw new NativeTypeError(host.unknown(path));
            };
        } else {
            made = (args) => request('tool', id, args);
        }
        if (id !== undefined && !host.hasMembers(path)) {
            defineProperty(made, 'name', { __proto__: null, value: path });
        } else if (id !== undefined || path === '' || host.hasMembers(path)) {
            made = new NativeProxy(made, handler(path));
        } else {
            throw new NativeTypeError(host.unknown(path));
        }
        mapSet(nodes, path, made);
        return made;
    };

    // Time and chance come from the host, so that a program can be repeated.

    const NativeDate = Date;
    const offset = uncurry(Date.prototype.getTimezoneOffset);
    // The C library reads its time zone at the first use. A process that is confined can no longer open the file.
    offset(new NativeDate(0));
    const nativeParse = Date.parse;
    const zoned = uncurry(RegExp.prototype.test);
    const zone = /(Z|GMT|UTC?|[+-]\d\d:?\d\d)\s*(\([^)]*\))?\s*$|^\s*[+-]?\d{4,6}(-\d\d){0,2}\s*$/i;
    const parseDate = (text) => {
        const time = nativeParse(text);
        const local = offset(new NativeDate(time));
        return local === 0 || local !== local || zoned(zone, text) ? time : time - local * 60000;
    };
    const { UTC } = Date;
    const utcText = uncurry(Date.prototype.toUTCString);
    function DateOfProgram(...parts) {
        if (new.target === undefined) return dateText(new NativeDate(host.now()));
        const { length } = parts;
        let time = length === 0 ? host.now() : parts[0];
        if (length > 1) time = apply(UTC, undefined, parts);
        else if (typeof time === 'string') time = parseDate(time);
        return construct(NativeDate, [time], new.target);
    }
    defineProperty(DateOfProgram, 'name', { __proto__: null, value: 'Date', configurable: true });
    defineProperty(DateOfProgram, 'length', { __proto__: null, value: 7, configurable: true });
    defineProperty(DateOfProgram, 'prototype', { __proto__: null, value: NativeDate.prototype, writable: false });
    define(DateOfProgram, 'now', () => host.now());
    define(DateOfProgram, 'parse', (text) => parseDate(`${text}`));
    define(DateOfProgram, 'UTC', UTC);
    define(NativeDate.prototype, 'constructor', DateOfProgram);
    // The local time of a program is UTC.
    const fields = ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'];
    for (const field of fields) {
        define(NativeDate.prototype, 'get' + field, NativeDate.prototype['getUTC' + field]);
        if (field !== 'Day') define(NativeDate.prototype, 'set' + field, NativeDate.prototype['setUTC' + field]);
    }
    define(NativeDate.prototype, 'getTimezoneOffset', function getTimezoneOffset() {
        return toTime(this) * 0;
    });
    const text = (write) => ({
        method() {
            return toTime(this) * 0 === 0 ? write(utcText(this), toIso(this)) : 'Invalid Date';
        },
    }).method;
    // `Thu, 01 Jan 1970 00:00:00 GMT` and `1970-01-01T00:00:00.000Z`, whose years may have other lengths.
    const day = (utc) => `${slice(utc, 0, 3)} ${slice(utc, 8, 11)} ${slice(utc, 5, 7)} ${slice(utc, 12, -13)}`;
    const time = (utc) => `${slice(utc, -12, -4)} GMT+0000`;
    const localDay = (iso) => `${slice(iso, -19, -17)}/${slice(iso, -16, -14)}/${slice(iso, 0, -20)}`;
    const localTime = (iso) => {
        const hours = +slice(iso, -13, -11);
        const half = hours % 12 || 12;
        return `${half < 10 ? 0 : ''}${half}${slice(iso, -11, -5)} ${hours < 12 ? 'AM' : 'PM'}`;
    };
    const texts = {
        __proto__: null,
        toString: (utc) => `${day(utc)} ${time(utc)}`,
        toDateString: (utc) => day(utc),
        toTimeString: (utc) => time(utc),
        toLocaleString: (utc, iso) => `${localDay(iso)}, ${localTime(iso)}`,
        toLocaleDateString: (utc, iso) => localDay(iso),
        toLocaleTimeString: (utc, iso) => localTime(iso),
    };
    for (const name in texts) define(NativeDate.prototype, name, text(texts[name]));
    const dateText = uncurry(NativeDate.prototype.toString);
    delete NativeDate.prototype.getYear;
    delete NativeDate.prototype.setYear;
    define(globalThis, 'Date', DateOfProgram);
    define(Math, 'random', () => host.random());

    // No text becomes code, and nothing can observe the garbage collector or other threads.

    const functions = [function () {}, async function () {}, function* () {}, async function* () {}];
    const none = function Function() {
        throw new NativeTypeError('a program cannot compile text: write the function itself');
    };
    none.prototype = Function.prototype;
    for (let i = 0; i < functions.length; i++) {
        const value = i === 0 ? none : function () { throw new NativeTypeError('a program cannot compile text'); };
        defineProperty(getPrototypeOf(functions[i]), 'constructor', { __proto__: null, value, configurable: false });
    }
    define(globalThis, 'Function', none);
    const absent = ['eval', 'WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer', 'performance'];
    for (let i = 0; i < absent.length; i++) delete globalThis[absent[i]];
    delete Error.prepareStackTrace;
    delete Error.stackTraceLimit;
    delete Error.captureStackTrace;

    // Values that JSON does not have, as `[replacement]`. Returns undefined for an ordinary object.

    const plain = (value, key) => {
        if (isPrototypeOf(prototypes.date, value)) {
            const time = toTime(value);
            return [time === time ? toIso(value) : null];
        }
        if (isPrototypeOf(bigPrototype, value)) return [bigValue(value)];
        const { toJSON } = value;
        if (typeof toJSON === 'function') return [apply(toJSON, value, [key])];
        const own = getPrototypeOf(value);
        if (own === prototypes.object || own === null) return undefined;
        if (isPrototypeOf(prototypes.error, value)) return [errorFields(value)];
        if (isPrototypeOf(prototypes.map, value)) return [mapEntries(value)];
        const list = [];
        if (isPrototypeOf(prototypes.set, value)) {
            setForEach(value, (item) => define(list, list.length, item));
            return [list];
        }
        if (isPrototypeOf(prototypes.buffer, value)) value = new NativeUint8Array(value);
        if (isPrototypeOf(prototypes.typed, value)) {
            const length = typedLength(value);
            for (let i = 0; i < length; i++) define(list, i, value[i]);
            return [list];
        }
        if (isPrototypeOf(prototypes.regexp, value)) return [toText(value)];
        for (let i = 0; i < boxes.length; i++) {
            if (isPrototypeOf(boxes[i].prototype, value)) return [boxes[i].valueOf(value)];
        }
        return undefined;
    };
    const errorFields = (value) => {
        const error = { __proto__: null, name: value.name, message: value.message };
        if (callOf(value) !== 0) {
            error.kind = value.kind;
            error.tool = value.tool;
            error.retryable = value.retryable;
            error.violations = value.violations;
        }
        const names = keys(value);
        for (let i = 0; i < names.length; i++) error[names[i]] = value[names[i]];
        return error;
    };
    // An object if all keys are strings, or else a list of pairs.
    const mapEntries = (value) => {
        const object = { __proto__: null };
        const list = [];
        let named = true;
        mapForEach(value, (item, name) => {
            if (typeof name === 'string') object[name] = item;
            else named = false;
            define(list, list.length, [name, item]);
        });
        return named ? object : list;
    };

    // What the host knows of something that was thrown.

    const messagesOf = (errors) => {
        let text = '';
        for (let i = 0; i < errors.length && i < 4; i++) text += `${i === 0 ? '' : '; '}${errors[i]?.message ?? errors[i]}`;
        return text;
    };
    const describeThrown = (reason) => {
        const error = { __proto__: null, name: '', message: '', stack: '', call: 0 };
        try {
            if (typeof reason === 'object' && reason !== null && isPrototypeOf(prototypes.error, reason)) {
                error.call = callOf(reason);
                error.name = `${reason.name}`;
                error.message = `${reason.message}`;
                const mixes = includes(error.message, 'bigint') || includes(error.message, 'BigInt to number');
                if (bigField !== undefined && mixes) {
                    error.message += `; an integer above 2^53 in a result, such as \`${bigField}\`, is a BigInt: ` +
                        'compute with `1n`, or with `Number(it)` if its last digits do not matter';
                }
                if (error.name === 'AggregateError') error.message += messagesOf(reason.errors);
                const stack = stackOf(reason);
                if (typeof stack === 'string') error.stack = stack;
            }
        } catch {}
        return error;
    };

    // A program that forgets to await reads `undefined` from a promise and goes on. Promises inherit from `Object.prototype`
    // by a proxy, which throws for every name that no promise has.
    const quiet = [Symbol.toStringTag, Symbol.isConcatSpreadable];
    const awaited = new NativeProxy(prototypes.object, {
        __proto__: null,
        get(target, name) {
            const isSymbol = typeof name === 'symbol';
            if (isSymbol ? name === quiet[0] || name === quiet[1] : name !== 'toJSON' && name in target) return target[name];
            const what = isSymbol ? 'a Promise is used' : `\`${name}\` is read from a Promise`;
            throw new NativeTypeError(`${what} in place of its result: await it first`);
        },
        getPrototypeOf: (target) => target,
    });
    setPrototypeOf(NativePromise.prototype, awaited);

    // Runs the evaluated program: the promise of its completion, or a function. The value is boxed, since a promise
    // would ask it for `then`.
    const main = async (program, calls, exports) => {
        let value;
        if (typeof program === 'function') {
            value = await apply(program, undefined, argumentsOf(program));
        } else {
            const completion = await program;
            value = await completion.value;
        }
        if (exports && globalThis.__out !== undefined) {
            value = globalThis.__out;
            globalThis.__out = undefined;
        }
        if (calls && typeof value === 'function') value = await apply(value, undefined, argumentsOf(value));
        return { __proto__: null, value };
    };
    const run = (program, calls, exports) => {
        const promise = main(program, calls, exports);
        then(promise, undefined, () => {});
        return promise;
    };

    // Some functions that other platforms have beside the language.

    const structuredClone = (value) => {
        const clones = new Map();
        const clone = (value) => {
            if (typeof value === 'function' || typeof value === 'symbol' || isPrototypeOf(NativePromise.prototype, value)) {
                throw new NativeTypeError(`a ${typeof value === 'object' ? 'Promise' : typeof value} cannot be cloned`);
            }
            if (typeof value !== 'object' || value === null) return value;
            if (mapHas(clones, value)) return mapGet(clones, value);
            let made = isArray(value) ? [] : {};
            if (isPrototypeOf(prototypes.date, value)) made = construct(NativeDate, [toTime(value)]);
            else if (isPrototypeOf(prototypes.regexp, value)) made = construct(NativeRegExp, [value]);
            else if (isPrototypeOf(prototypes.map, value)) made = new NativeMap();
            else if (isPrototypeOf(prototypes.set, value)) made = new NativeSet();
            else if (isPrototypeOf(prototypes.buffer, value)) made = bufferSlice(value, 0);
            else if (isPrototypeOf(prototypes.typed, value)) made = typedSlice(value, 0);
            else if (isPrototypeOf(prototypes.error, value)) {
                made = construct(NativeError, [`${value.message}`]);
                define(made, 'name', value.name);
            }
            mapSet(clones, value, made);
            if (isPrototypeOf(prototypes.map, made)) mapForEach(value, (item, key) => mapSet(made, clone(key), clone(item)));
            else if (isPrototypeOf(prototypes.set, made)) setForEach(value, (item) => setAdd(made, clone(item)));
            else if (isArray(made) || getPrototypeOf(made) === prototypes.object) {
                const names = keys(value);
                for (let i = 0; i < names.length; i++) made[names[i]] = clone(value[names[i]]);
            }
            return made;
        };
        return clone(value);
    };
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const btoa = (text) => {
        text = `${text}`;
        let encoded = '';
        for (let i = 0; i < text.length; i += 3) {
            let bits = 0;
            for (let k = 0; k < 3; k++) {
                const code = i + k < text.length ? charCode(text, i + k) : 0;
                if (code > 255) throw new NativeTypeError('btoa takes bytes: a character is above 255');
                bits = bits * 256 + code;
            }
            for (let k = 0; k < 4; k++) encoded += i + k > text.length ? '=' : digits[(bits >> (18 - 6 * k)) & 63];
        }
        return encoded;
    };
    const atob = (text) => {
        let decoded = '', bits = 0, length = 0;
        text = `${text}`;
        for (let i = 0; i < text.length && text[i] !== '='; i++) {
            const digit = indexOf(digits, text[i]);
            if (includes(' \t\n\f\r', text[i])) continue;
            if (digit < 0) throw new NativeTypeError('atob takes Base64 of the standard alphabet');
            bits = ((bits << 6) | digit) & 0xffff;
            length += 6;
            if (length >= 8) decoded += fromCharCode((bits >> (length -= 8)) & 255);
        }
        return decoded;
    };
    class TextEncoder {
        encoding = 'utf-8';
        encode(text = '') {
            return host.encode(wellFormed(`${text}`));
        }
    }
    class TextDecoder {
        encoding = 'utf-8';
        constructor(label = 'utf-8') {
            if (label !== 'utf-8' && label !== 'utf8') throw new NativeRangeError('TextDecoder decodes utf-8 only');
        }
        decode(bytes = new NativeUint8Array()) {
            if (isPrototypeOf(prototypes.buffer, bytes)) bytes = new NativeUint8Array(bytes);
            const list = [];
            for (let i = 0; i < typedLength(bytes); i++) define(list, i, bytes[i]);
            return host.decode(list);
        }
    }

    // The globals of a program.

    const checked = (value, what) => {
        if (typeof value !== 'string') throw new NativeTypeError(`${what} must be a string`);
        return value;
    };
    const blocksOf = (result) => {
        if (typeof result !== 'object' || result === null) return [];
        return weakGet(contents, result) ?? [];
    };
    // An error is printed as its message, and everything else as JSON.
    const print = (isError, values) => {
        for (let i = 0; i < values.length; i++) {
            const value = values[i];
            if (typeof value === 'object' && value !== null && isPrototypeOf(prototypes.error, value)) {
                define(values, i, `${value.name}: ${value.message}`);
            }
        }
        host.print(isError, values);
    };
    // What a callback throws is a rejection, which the host prints.
    const settled = NativePromise.resolve();
    let timers = 0;
    const cancelled = new Map();
    const globals = {
        __proto__: null,
        tools: node(''),
        ToolError,
        structuredClone,
        btoa,
        atob,
        TextEncoder,
        TextDecoder,
        call: (id, args) => request('tool', checked(id, 'the id of a tool'), args),
        chain: (steps) => request('chain', steps),
        search: (query, limit) => request('search', checked(query, 'the query'), limit),
        namespaces: () => request('namespaces'),
        describe: (...ids) => request('describe', ids),
        examples: (id, max) => request('examples', checked(id, 'the id of a tool'), max),
        sleep: (ms) => request('sleep', ms),
        content: blocksOf,
        show(shown) {
            if (typeof shown !== 'object' || shown === null) {
                throw new NativeTypeError('show takes the result of a tool, or a block of its content');
            }
            const list = 'call' in shown && 'block' in shown ? [shown] : blocksOf(shown);
            for (let i = 0; i < list.length; i++) host.show(list[i].call, list[i].block);
        },
        setTimeout(callback, ms, ...args) {
            if (typeof callback !== 'function') throw new NativeTypeError('setTimeout takes a function');
            const timer = ++timers;
            const fire = () => {
                if (mapGet(cancelled, timer) !== true) apply(callback, undefined, args);
            };
            then(then(request('sleep', ms ?? 0), fire), undefined, (error) => print(true, ['Uncaught', error]));
            return timer;
        },
        queueMicrotask(callback) {
            if (typeof callback !== 'function') throw new NativeTypeError('queueMicrotask takes a function');
            then(settled, callback);
        },
        clearTimeout(timer) {
            mapSet(cancelled, timer, true);
        },
        print: (...args) => print(false, args),
        println: (...args) => print(false, args),
    };
    const globalNames = ownKeys(globals);
    for (let i = 0; i < globalNames.length; i++) define(globalThis, globalNames[i], globals[globalNames[i]]);

    // The function of a program may take what it finds as globals: `(tools, console)`, `({ tools })` or `(context)`.
    const context = new NativeProxy({}, {
        __proto__: null,
        get: (target, name) => (typeof name === 'string' ? found(name) : undefined),
    });
    const found = (name) => {
        if (name === 'console') return console;
        if (name in globals) return globals[name];
        return host.exists(name) ? node(name) : undefined;
    };
    const argumentsOf = (program) => {
        const list = [];
        const head = execute(functionHead, slice(functionText(program), 0, 1000));
        const parameters = head?.[1] ?? head?.[2] ?? '';
        for (let i = 0, depth = 0, name = ''; i <= parameters.length; i++) {
            const char = parameters[i];
            if (char === '{' || char === '[') depth++;
            if (char === '}' || char === ']') depth--;
            if (char !== undefined && (char !== ',' || depth > 0)) {
                name += char;
                continue;
            }
            name = trim(name);
            const known = execute(identifier, name) === null ? undefined : found(name);
            const takesAll = name[0] === '{' || list.length === 0 && known === undefined && execute(identifier, name) !== null;
            define(list, list.length, takesAll ? context : known);
            name = '';
        }
        return list;
    };

    const console = {};
    for (const name of ['log', 'info', 'debug', 'table', 'dir', 'group']) {
        console[name] = (...args) => print(false, args);
    }
    for (const name of ['warn', 'error', 'trace']) console[name] = (...args) => print(true, args);
    for (const name of ['groupEnd', 'time', 'timeEnd', 'timeLog', 'count']) console[name] = () => {};
    console.assert = (condition, ...args) => {
        if (!condition) print(true, args);
    };
    define(globalThis, 'console', console);
    define(globalThis, '__out', undefined);

    return freeze({
        __proto__: null, settle, run, describeThrown, plain, isArray, wellFormed, bigToText,
        objectPrototype: prototypes.object,
    });
};
