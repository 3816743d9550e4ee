/** Queries about the customers of the fixture: whom they find, and which of them are refused. */
import type { Code } from '../../../src/base/errors.ts'
import type { Json } from '../../../src/base/json/json.ts'

export const is = (field: string, rvalue: Json): Json => ({ field, op: '=', rvalue })
const isNot = (field: string, rvalue: Json): Json => ({ field, op: '!=', rvalue })
const fields = (field: string, op: string, rfield: string): Json => ({ field, op, rfield })
const elem = (array: string, elemMatch: Json): Json => ({ array, elemMatch })
const ALL = ['ann', 'bob', 'cid', 'dan']

type Row = readonly [rule: string, query: Json, ids: readonly string[]]

export const CUSTOMERS: readonly Row[] = [
  // Which documents a reference joins.
  ['equality joins by a field of the holder', is('orders.*.total', 50), ['bob']],
  ['two missing sides are equal in a join', is('neighbours.*._id', 'dan'), []],
  ['a constant joins the same documents to all', is('cheap.*._id', 'ink'), ALL],
  ['a constant keeps out the others', is('cheap.*._id', 'car'), []],
  ['a reference without a query joins all documents', is('catalogue.*.price', 900), ALL],
  ['$in joins by the elements of an array', is('wishes.*.price', 5), ['ann']],
  ['an empty or absent array joins nothing', is('wishes#', 0), ['bob', 'dan']],
  ['$parent is the object that holds the reference', is('home.deliveries.*.total', 30), ['ann']],
  ['$parent out of that object is the document', is('home.deliveries.*.customer', 'bob'), ['bob']],
  ['a reference in an absent object joins nothing', isNot('home.deliveries', null), ['ann', 'bob']],
  ['a self reference joins documents of its own entity', is('neighbours.*.name', 'Ann'), ['bob']],
  // One clause after the other.
  ['some joined document suffices', is('orders.*.total', 5), ['ann']],
  ['< and > ask of some document, too', { field: 'orders.*.total', op: '<', rvalue: 40 }, ['ann']],
  ['!= denies that some document equals', isNot('orders.*.total', 5), ['bob', 'cid', 'dan']],
  ['= null asks for a document without a value', is('orders.*.shop', null), ['bob']],
  ['!= null denies that, also where nothing is joined', isNot('orders.*.shop', null), ['ann', 'cid', 'dan']],
  ['$in asks of some document', { field: 'orders.*.total', op: '$in', values: [5, 50] }, ['ann', 'bob']],
  ['$nin denies it', { field: 'orders.*.total', op: '$nin', values: [5] }, ['bob', 'cid', 'dan']],
  ['null in a list means null or missing', { field: 'orders.*.shop', op: '$in', values: [null] }, ['bob']],
  [
    'a regex asks of some document',
    { field: 'orders.*.shop', regex: '^NOR', caseInsensitive: true },
    ['ann'],
  ],
  [
    '$any asks of an array of some document',
    { array: 'orders.*.tags', contains: '$any', values: ['gift'] },
    ['ann'],
  ],
  ['$all does as well', { array: 'orders.*.tags', contains: '$all', values: ['gift', 'slow'] }, []],
  [
    '$none denies $any',
    { array: 'orders.*.tags', contains: '$none', values: ['gift'] },
    ['bob', 'cid', 'dan'],
  ],
  ['elements of a joined document are asked by *', is('orders.*.tags.*', 'fast'), ['ann']],
  ['and by their place', is('orders.*.tags.-1', 'gift'), []],
  ['an empty array of a joined document has no element', is('orders.*.tags.*', null), ['ann']],
  ['an array of a joined document may be absent', is('orders.*.tags', null), ['ann']],
  ['sizes of arrays of a joined document', is('orders.*.tags#', 2), ['ann']],
  ['$not denies what is inside', { $not: is('orders.*.total', 5) }, ['bob', 'cid', 'dan']],
  [
    'two clauses may hold for two documents',
    { $and: [is('orders.*.total', 5), is('orders.*.zip', '1')] },
    ['ann'],
  ],
  ['elemMatch asks all of one document', elem('orders', { $and: [is('total', 5), is('zip', '1')] }), []],
  ['elemMatch asks of any', elem('orders', { $and: [is('total', 5), is('zip', '2')] }), ['ann']],
  ['elemMatch of nothing asks for a document', elem('orders', { $and: [] }), ['ann', 'bob']],
  ['$or across references', { $or: [is('orders.*.total', 50), is('wishes.*.price', 900)] }, ['bob', 'cid']],
  // About the reference itself.
  ['= null: nothing is joined', is('orders', null), ['cid', 'dan']],
  ['!= null: something is', isNot('orders', null), ['ann', 'bob']],
  ['a joined document is never null', is('orders.*', null), []],
  ['the number of documents', is('orders#', 2), ['ann']],
  ['the number compares', { field: 'orders#', op: '<=', rvalue: 1 }, ['bob', 'cid', 'dan']],
  ['the number is not', isNot('orders#', 0), ['ann', 'bob']],
  ['the number is one of', { field: 'orders#', op: '$in', values: [0, 2] }, ['ann', 'cid', 'dan']],
  ['the number is one of, null aside', { field: 'orders#', op: '$in', values: [null, '2', 2] }, ['ann']],
  ['the number is among nulls only', { field: 'orders#', op: '$in', values: [null] }, []],
  ['the number is not among nulls', { field: 'orders#', op: '$nin', values: [null] }, ALL],
  ['the number is none of', { field: 'orders#', op: '$nin', values: [0, 2] }, ['bob']],
  ['the number is a literal of any spelling', is('orders#', '2'), ['ann']],
  ['the number is never null', is('orders#', null), []],
  ['the number never is null, written the other way', isNot('orders#', null), ALL],
  ['where no object holds the reference there is no number', is('home.deliveries#', 0), ['dan']],
  // One reference after the other.
  ['a reference of a reference', is('neighbours.*.orders.*.total', 50), ['ann']],
  ['its number', is('neighbours.*.orders#', 2), ['bob']],
  ['its number where the first joins nothing', is('neighbours.*.orders#', 0), []],
  ['some of the first joins none of the second', is('neighbours.*.wishes', null), ['ann']],
  ['in an element of a joined document', is('orders.*.lines.*.product.*.price', 2), ['ann']],
  ['elemMatch in elemMatch', elem('orders', elem('lines', elem('product', is('stock', 1)))), ['bob']],
  ['elemMatch of a path to the second', elem('neighbours.*.orders', is('total', 5)), ['bob']],
  ['and back again', is('orders.*.buyer.*.orders.*.total', 30), ['ann']],
  ['a reference by elemMatch on an array of the joined document', is('orders.*.offered.*.stock', 2), ['ann']],
  // References in elements of arrays.
  ['through * to the reference', is('visits.*.bought.*.total', 30), ['ann']],
  ['through a place to the reference', is('visits.1.bought.*.total', 30), []],
  ['through the right place', is('visits.1.bought.*.total', 5), ['ann']],
  ['a place from the end', is('visits.-2.bought.*.total', 5), ['ann']],
  ['elemMatch on the array, the reference inside', elem('visits', is('bought.*.total', 5)), ['ann']],
  ['the element stays the same', elem('visits', { $and: [is('day', 1), is('bought.*.total', 5)] }), []],
  ['elemMatch on the reference behind *', elem('visits.*.bought', is('total', 5)), ['ann']],
  ['some element joins so many', is('visits.*.bought#', 1), ['ann']],
  ['an element that joins none counts none', is('visits.*.bought#', 0), ['cid']],
  [
    'some element joins one of so many',
    { field: 'visits.*.bought#', op: '$in', values: [0, 1, 7] },
    ['ann', 'cid'],
  ],
  ['= null behind *: no element joins any', is('visits.*.bought', null), ['bob', 'cid', 'dan']],
  ['elemMatch, then = null: some element joins none', elem('visits', is('bought', null)), ['ann', 'cid']],
  // $parent.
  [
    '$parent out of a joined document',
    elem('orders', fields('total', '>=', '$parent.score')),
    ['ann', 'bob'],
  ],
  [
    '$parent.$parent out of an elemMatch in one',
    elem('orders', elem('lines', fields('$parent.$parent._id', '=', '$parent.customer'))),
    ['ann', 'bob'],
  ],
  [
    '$parent out of an element on the way',
    elem('visits.*.bought', fields('total', '>', '$parent.day')),
    ['ann'],
  ],
  [
    '$parent.$parent beyond that element',
    elem('visits.*.bought', fields('total', '=', '$parent.$parent.score')),
    ['ann'],
  ],
  ['$parent and then another reference', elem('visits', is('$parent.orders.*.total', 30)), ['ann']],
  [
    'the same with $parent inside of the other reference',
    elem('visits', elem('$parent.orders', fields('shop', '=', '$parent.visits.0.shop'))),
    ['ann'],
  ],
  ['out of one reference into another', elem('orders', is('$parent.neighbours.*.name', 'Bob')), ['ann']],
  ['$parent cancels a step into a reference', is('orders.*.$parent.name', 'Bob'), ['bob']],
  ['$this is the joined document', elem('orders', is('$this.total', 5)), ['ann']],
  // Field against field.
  ['a field of a joined document and one of the own', fields('orders.*.total', '=', 'score'), ['ann']],
  ['the other way round', fields('score', '=', 'orders.*.total'), ['ann']],
  ['!= denies that some is equal', fields('orders.*.total', '!=', 'score'), ['bob', 'cid', 'dan']],
  ['fields behind two references', fields('orders.*.total', '<=', 'wishes.*.price'), ['ann']],
  [
    'fields behind one and the same: any two documents',
    fields('orders.*.total', '>', 'orders.*.total'),
    ['ann'],
  ],
  ['fields at different depths', fields('orders.*.lines.*.product.*.price', '=', 'wishes.*.price'), ['ann']],
  ['$in an array of a joined document', fields('wanted.*', '=', 'orders.*.lines.*.sku'), ['ann']],
  ['a field in an array behind a reference', fields('name', '$in', 'orders.*.tags'), []],
  ['a missing field in an array without null', fields('name', '$nin', 'orders.*.tags'), ALL],
  ['a field behind a reference in an own array', fields('wishes.*._id', '$in', 'wanted'), ['ann', 'cid']],
  ['a value greater than all elements', fields('orders.*.customer', '<', 'wanted'), ['ann']],
  ['arrays on both sides', fields('orders.*.tags', '=', 'wanted'), ['bob']],
  ['from inside an elemMatch', elem('visits', fields('shop', '=', '$parent.orders.*.shop')), ['ann']],
  [
    'both sides from inside an elemMatch',
    elem('visits', fields('bought.*.total', '<', '$parent.orders.*.total')),
    ['ann'],
  ],
]

const INVALID = 'query-api:InvalidQuery'
const UNKNOWN = 'metadata:InvalidFieldReference'
const ARRAY = 'metadata:InvalidArrayReference'

export const REFUSALS: readonly (readonly [rule: string, query: Json, code: Code, at: string])[] = [
  ['a document by its place', is('orders.0.total', 5), INVALID, '/field'],
  ['a document by its place from the end', is('orders.-1.total', 5), INVALID, '/field'],
  ['the place of a document of a second reference', is('neighbours.*.orders.0.total', 5), INVALID, '/field'],
  ['elemMatch over a document by its place', elem('orders.0', is('total', 5)), INVALID, '/array'],
  ['no word of which document', is('orders.total', 5), ARRAY, '/field'],
  ['an unknown field behind a reference', is('orders.*.nope', 5), UNKNOWN, '/field'],
  ['an unknown field in an elemMatch over one', elem('orders', is('nope', 5)), UNKNOWN, '/elemMatch/field'],
  ['a reference with a value', is('orders', 'o1'), INVALID, '/field'],
  ['a reference in a list', { field: 'orders', op: '$in', values: [null] }, INVALID, '/field'],
  ['a regex on a reference', { field: 'orders', regex: 'a' }, INVALID, '/field'],
  ['contains on a reference', { array: 'orders', contains: '$any', values: ['o1'] }, INVALID, '/array'],
  ['a joined document with a value', is('orders.*', 'o1'), INVALID, '/field'],
  ['< with a reference', { field: 'orders', op: '<', rvalue: null }, INVALID, '/rvalue'],
  ['a regex on a number of documents', { field: 'orders#', regex: '1' }, INVALID, '/field'],
  ['a text for a number of documents', is('orders#', 'two'), 'metadata:IncompatibleValue', '/rvalue'],
  ['a field compared with a reference', fields('name', '=', 'orders'), INVALID, '/rfield'],
  ['a field compared with a number of documents', fields('score', '=', 'orders#'), INVALID, '/rfield'],
  ['types that do not compare', fields('orders.*.total', '=', 'name'), INVALID, '/rfield'],
  [
    'types that do not compare, at two references',
    fields('orders.*.total', '=', 'wishes.*.label'),
    INVALID,
    '/rfield',
  ],
  ['$in a simple field behind a reference', fields('score', '$in', 'orders.*.total'), INVALID, '/rfield'],
  ['a literal of another type', is('orders.*.total', 'x'), 'metadata:IncompatibleValue', '/rvalue'],
  [
    '$parent above the document',
    elem('orders', is('$parent.$parent.name', 'x')),
    UNKNOWN,
    '/elemMatch/field',
  ],
  [
    'too many references one from the other',
    is(`${'neighbours.*.'.repeat(6)}name`, 'x'),
    'crud:LimitExceeded',
    '/field',
  ],
]
