/** Numbers of joined documents in projections. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { ReferenceCase } from './references-vectors.ts'

const is = (field: string, rvalue: Json): JsonObject => ({ field, op: '=', rvalue })
const show = (...fields: readonly string[]): Json => fields.map((field) => ({ field }))
const BY_ID: JsonObject = { sort: { _id: '$asc' } }
const ALL: JsonObject = { field: '*', recursive: true }

const find = (
  rule: string,
  entity: string,
  body: JsonObject,
  answer: ReferenceCase['answer'],
): ReferenceCase => ({
  rule: `count: ${rule}`,
  entity,
  body: { ...BY_ID, ...body },
  answer,
})

const A1234: JsonObject = { field: '_id', op: '$in', values: ['A01', 'A02', 'A03', 'A04'] }

export const COUNTS: readonly ReferenceCase[] = [
  find(
    'the number of documents, which may be none',
    'A',
    { query: A1234, projection: show('_id', 'nonid_b#', 'b#') },
    [
      { _id: 'A01', 'nonid_b#': 2, 'b#': 1 },
      { _id: 'A02', 'nonid_b#': 2, 'b#': 1 },
      { _id: 'A03', 'nonid_b#': 0, 'b#': 1 },
      { _id: 'A04', 'nonid_b#': 0, 'b#': 0 },
    ],
  ),
  find('in an object; without the object there is no number', 'A', { projection: show('_id', 'obj1.c#') }, [
    { _id: 'A01', obj1: { 'c#': 1 } },
    { _id: 'A02', obj1: { 'c#': 1 } },
    { _id: 'A03', obj1: { 'c#': 1 } },
    { _id: 'A04', obj1: { 'c#': 0 } },
    { _id: 'ADEEP' },
  ]),
  find(
    'in the elements of an array',
    'A',
    { query: is('_id', 'ADEEP'), projection: show('level1.arr1.*.ref#', 'level1.arr1.*.b_ref') },
    [
      {
        level1: {
          arr1: [
            { b_ref: 'BDEEP1', 'ref#': 1 },
            { b_ref: 'BDEEP2', 'ref#': 1 },
          ],
        },
      },
    ],
  ),
  find(
    'of documents behind a reference',
    'person',
    { query: is('_id', 'p1'), projection: show('works_at.*.staff#') },
    [{ works_at: [{ 'staff#': 2 }] }],
  ),
  find(
    'beside the documents',
    'firm',
    { query: is('_id', 'f1'), projection: show('staff#', 'staff.*._id', 'staff.*.works_at#') },
    [
      {
        'staff#': 2,
        staff: [
          { _id: 'p2', 'works_at#': 1 },
          { _id: 'p1', 'works_at#': 1 },
        ],
      },
    ],
  ),
  find(
    'without the documents, also where * is shown',
    'firm',
    { query: is('_id', 'f4'), projection: [ALL, { field: 'staff#' }] },
    [{ _id: 'f4', objectType: 'firm', town: 'Rome', 'staff#': 0 }],
  ),
  find('* shows none', 'firm', { query: is('_id', 'f1'), projection: [ALL] }, [
    { _id: 'f1', objectType: 'firm', town: 'Rome' },
  ]),
  find(
    'what the projection of a reference leaves out can be counted all the same',
    'A',
    { query: is('_id', 'A01'), projection: show('short_b#') },
    [{ 'short_b#': 2 }],
  ),
  find(
    'excluded',
    'firm',
    {
      query: is('_id', 'f1'),
      projection: [{ field: 'staff#' }, { field: '_id' }, { field: 'staff#', include: false }],
    },
    [{ _id: 'f1' }],
  ),
  find(
    'elements are matched and sorted by it',
    'person',
    {
      query: is('_id', 'p1'),
      projection: [
        {
          field: 'works_at',
          match: is('staff#', 2),
          projection: { field: 'town' },
          sort: { 'staff#': '$asc' },
        },
      ],
    },
    [{ works_at: [{ town: 'Rome' }] }],
  ),
  find(
    'elements that it does not match',
    'person',
    { query: is('_id', 'p1'), projection: [{ field: '_id' }, { field: 'works_at', match: is('staff#', 3) }] },
    [{ _id: 'p1' }],
  ),
  find(
    'a query that asks of it shows nothing for that',
    'firm',
    { query: is('staff#', 0), projection: show('_id', 'staff#') },
    [{ _id: 'f4', 'staff#': 0 }],
  ),
  find('what is not a reference has none', 'firm', { query: is('_id', 'f1'), projection: show('town#') }, [
    {},
  ]),
]
