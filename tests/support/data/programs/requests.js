//# calls without end that nothing awaits
//# kind: memory | steps | exception
//# origin: own
for (;;) tools.echo({});

//# large calls that nothing awaits
//# kind: exception
//# says: await some of them
//# origin: own
const text = 'x'.repeat(1_000_000);
for (;;) tools.echo({ text });

//# arguments that are too large
//# kind: exception
//# says: a request exceeds
//# origin: own
await tools.echo({ text: 'x'.repeat(5_000_000) });

//# id that is too large
//# kind: exception
//# says: a request exceeds
//# origin: own
await call('x'.repeat(5_000_000));

//# query that is too large
//# kind: exception
//# says: a request exceeds
//# origin: own
await search('x'.repeat(5_000_000));

//# many ids
//# kind: exception
//# says: a request exceeds
//# origin: own
await describe(new Array(400_000).fill('echo'));

//# ids that are nested
//# kind: exception
//# says: describe takes the ids of tools
//# origin: own
await describe([[['echo']]]);

//# ids that are a Proxy
//# kind: exception
//# says: describe takes the ids of tools
//# origin: own
await describe(new Proxy(['echo'], {}));

//# ids that are numbers
//# kind: exception
//# says: describe takes the ids of tools
//# origin: own
await describe(1, 2);

//# pause without end
//# value: 1
//# origin: own
sleep(Infinity);
sleep(-1);
sleep(NaN);
sleep('a');
return 1;

//# pause that is awaited
//# value: 1
//# origin: own
await sleep(1e300);
return 1;

//# timers that are cleared
//# value: 1
//# origin: own
for (let i = 0; i < 1000; i++) clearTimeout(setTimeout(() => { throw new Error('fired'); }, 1));
return 1;

//# timer that is none
//# value: 1
//# origin: own
clearTimeout({});
clearTimeout(undefined);
return 1;

//# content of everything
//# value: [[],[],[],[],[]]
//# origin: own
return [content(null), content(1), content({}), content([]), content(tools)];

//# show of what was not returned
//# kind: exception
//# says: show takes the result of a tool
//# origin: own
show({ call: 99, block: 0 });

//# show of a negative block
//# kind: exception
//# says: show takes the result of a tool
//# origin: own
await tools.image({});
show({ call: 1, block: -1 });

//# show of a fraction
//# kind: exception
//# says: show takes the result of a tool
//# origin: own
await tools.image({});
show({ call: 1.5, block: 0 });

//# show of a text
//# kind: exception
//# origin: own
show('image');

//# show of numbers that are objects
//# kind: exception
//# origin: own
await tools.image({});
show({ call: { valueOf() { return 1; } }, block: 0 });

//# show without end
//# value: 1
//# origin: own
const image = await tools.image({});
for (let i = 0; i < 5000; i++) show(image);
for (let i = 0; i < 5000; i++) show({ call: 1, block: i });
return 1;

//# limit that is negative
//# value: [[],[],[]]
//# origin: own
return [await search('a', -1), await search('a', 1e300), await search('a', {})];

//# chain that is nothing
//# value: [[],[]]
//# origin: own
return [await chain(), await chain(null)];

//# chain with itself
//# kind: exception
//# says: the steps at /0 cannot be sent: a part of itself
//# origin: own
const steps = [];
steps.push(steps);
await chain(steps);

//# arguments that are a text
//# value: "text"
//# origin: own
return await tools.echo('text');

//# arguments that are a function
//# kind: exception
//# says: the arguments cannot be sent: a function
//# origin: own
await tools.echo(() => 1);

//# arguments that are a tool
//# kind: exception
//# says: the arguments cannot be sent: a function
//# origin: own
await tools.echo(tools.math);

//# arguments with numbers that JSON lacks
//# value: {"a":null,"b":null,"c":0,"d":1e300}
//# origin: own
return await tools.echo({ a: NaN, b: -Infinity, c: -0, d: 1e300 });

//# arguments with big integers
//# value: {"a":9007199254740993,"b":123456789012345678901234567890}
//# origin: own
return await tools.echo({ a: 9007199254740993n, b: 123456789012345678901234567890n });

//# arguments with dates, maps and sets
//# value: {"a":"1970-01-01T00:00:00.000Z","b":{"k":1},"c":[1,2],"d":[[1,2]],"e":[1,2]}
//# origin: own
return await tools.echo({
  a: new Date(0), b: new Map([['k', 1]]), c: new Set([1, 2]), d: new Map([[1, 2]]), e: new Uint8Array([1, 2]),
});

//# tool of a name that is inherited
//# kind: exception
//# origin: own
await tools.constructor.constructor('return process')();

//# tool by a symbol
//# value: "undefined"
//# origin: own
return typeof tools[Symbol.iterator] + typeof tools[Symbol.toPrimitive] === 'undefinedundefined' ? 'undefined' : 'found';

//# tool of a long name
//# kind: exception
//# says: is not a tool
//# origin: own
await tools['x'.repeat(100_000)]({});

//# tool of a name with controls
//# kind: exception
//# says: is not a tool
//# origin: own
await tools['\u001b[2J\n"']({});

//# tool of many parts
//# kind: exception
//# says: is not a tool
//# origin: own
await tools['a.'.repeat(10_000)]({});

//# tools as a thenable
//# value: ["undefined","undefined"]
//# origin: own
const { then } = await tools;
return [typeof then, typeof (await tools.math).then];

//# tools of all namespaces
//# value: ["echo","fail","github","image","math","nothing"]
//# origin: own
return Object.keys(tools);

//# entries of a namespace
//# value: ["add","subtract"]
//# origin: own
return Object.entries(tools.math).map(([name]) => name);

//# result that is an error of the program
//# kind: exception
//# says: TypeError
//# origin: own
await tools.math.add({ a: 1, b: 2 }).then((sum) => sum.items.length);

//# call in a finally after a failure
//# kind: tool
//# says: the server is restarting
//# origin: own
try { await tools.fail({}); } finally { tools.echo({}); }

//# calls after the failure of the program
//# kind: exception
//# says: stop
//# origin: own
(async () => { for (;;) await tools.echo({}); })();
await tools.echo({});
throw new Error('stop');

//# calls after the end of the program
//# value: 1
//# origin: own
(async () => { for (let i = 0; i < 5; i++) await tools.echo({ i }); })();
return 1;

//# calls in toJSON of the value
//# value: [1]
//# origin: own
return [{ toJSON() { tools.echo({}); return 1; } }];

//# error in what nothing awaits
//# value: 1
//# says: not awaited: TypeError
//# origin: own
tools.echo({}).then(() => null.x);
return 1;

//# many errors that nothing awaits
//# value: 1
//# says: bytes of output were dropped
//# origin: own
for (let i = 0; i < 2000; i++) Promise.reject(new Error('x'.repeat(100)));
return 1;
