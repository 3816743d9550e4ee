/** How documents are sorted by what their references join. */
import type { Code } from '../../../src/base/errors.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { ReferenceCase } from './references-vectors.ts'

const sorted = (
  rule: string,
  entity: string,
  sort: Json,
  answer: readonly string[] | Code,
  more: JsonObject = {},
): ReferenceCase => ({
  rule: `sort: ${rule}`,
  entity,
  body: { projection: { field: '_id' }, sort, ...more },
  answer: typeof answer === 'string' ? answer : answer.map((_id) => ({ _id })),
})

const counting = (matchCount: number, each: ReferenceCase): ReferenceCase => ({ ...each, matchCount })

export const SORTS: readonly ReferenceCase[] = [
  sorted('by a field of the one document that a reference joins', 'A', { 'b.*.field1': '$desc' }, [
    'A03',
    'A02',
    'A01',
    'A04',
    'ADEEP',
  ]),
  sorted('a document that joins none comes first, as null does', 'A', { 'b.*.field1': '$asc' }, [
    'A04',
    'ADEEP',
    'A01',
    'A02',
    'A03',
  ]),
  sorted(
    'through a reference in an object; without the object it joins none',
    'A',
    { 'obj1.c.*.field1': '$desc' },
    ['A03', 'A02', 'A01', 'A04', 'ADEEP'],
  ),
  sorted('through two references', 'A', { 'b.*.c.*.field1': '$desc' }, ['A03', 'A02', 'A01', 'A04', 'ADEEP']),
  sorted(
    'through three references, one of which joins none',
    'A',
    [{ 'obj1.c.*.d.*.field1': '$desc' }, { group: '$desc' }],
    ['A02', 'A01', 'A04', 'ADEEP', 'A03'],
  ),
  sorted(
    'with keys of the document before it',
    'A',
    [{ group: '$desc' }, { 'b.*._id': '$asc' }],
    ['A04', 'ADEEP', 'A03', 'A02', 'A01'],
  ),
  counting(5, sorted('a range of those', 'A', { 'b.*.field1': '$asc' }, ['A01', 'A02'], { range: [2, 3] })),
  counting(
    2,
    sorted('of those that a query finds', 'A', { 'b.*.field1': '$desc' }, ['A02'], {
      query: { field: 'nonid_b#', op: '=', rvalue: 2 },
      range: [0, 0],
    }),
  ),
  sorted('by the _id of another document', 'A', { 'b.*._id': '$desc' }, [
    'A03',
    'A02',
    'A01',
    'A04',
    'ADEEP',
  ]),
  sorted(
    'round a circle',
    'person',
    [{ 'works_at.*.town': '$asc' }, { name: '$desc' }],
    ['p6', 'p5', 'p4', 'p3', 'p2', 'p1'],
  ),
  sorted('through a reference to the same entity', 'city', { 'neighbour.*.neighbour.*.code': '$asc' }, [
    'c1',
    'c2',
    'c3',
    'c5',
    'c4',
  ]),
  sorted('by a unique index of which a constant fixes one field', 'city', { 'country.*.people': '$desc' }, [
    'c1',
    'c2',
    'c3',
    'c4',
    'c5',
  ]),
  sorted('exact numbers', 'city', { 'country.*.area': '$asc' }, ['c3', 'c4', 'c1', 'c5', 'c2']),
  sorted('an array of the other document by its least element', 'city', { 'country.*.spoken.*': '$asc' }, [
    'c3',
    'c4',
    'c5',
    'c1',
    'c2',
  ]),
  sorted('and by its greatest', 'city', { 'country.*.spoken.*': '$desc' }, ['c2', 'c1', 'c3', 'c4', 'c5']),
  sorted('by one of its elements', 'city', { 'country.*.spoken.1': '$desc' }, ['c1', 'c2', 'c3', 'c4', 'c5']),
  sorted(
    'refuses a reference that may join several',
    'firm',
    { 'staff.*.name': '$asc' },
    'query-api:InvalidSort',
  ),
  sorted('refuses one by elements of an array', 'A', { 'in_b.*.field1': '$asc' }, 'query-api:InvalidSort'),
  sorted(
    'refuses one behind it that may join several',
    'person',
    { 'works_at.*.staff.*.name': '$asc' },
    'query-api:InvalidSort',
  ),
  sorted(
    'refuses a reference in an array',
    'A',
    { 'level1.arr1.*.ref.*.field1': '$asc' },
    'query-api:InvalidSort',
  ),
  sorted('refuses a document by its place', 'A', { 'b.0.field1': '$asc' }, 'query-api:InvalidSort'),
  sorted('refuses the documents themselves', 'A', { b: '$asc' }, 'query-api:InvalidSort'),
  sorted(
    'refuses an array of the other document',
    'city',
    { 'country.*.spoken': '$asc' },
    'query-api:InvalidSort',
  ),
  sorted('refuses a field that is not there', 'A', { 'b.*.nope': '$asc' }, 'metadata:InvalidFieldReference'),
  sorted('refuses a path without *', 'A', { 'b.field1': '$asc' }, 'metadata:InvalidArrayReference'),
  sorted('by the number of documents', 'firm', { 'staff#': '$desc' }, ['f1', 'f2', 'f3', 'f4']),
  sorted(
    'by the number of documents, few first',
    'firm',
    [{ 'staff#': '$asc' }, { _id: '$desc' }],
    ['f4', 'f3', 'f2', 'f1'],
  ),
  sorted(
    'by a number behind a reference; none is less than 0',
    'person',
    [{ 'works_at.*.staff#': '$asc' }, { name: '$desc' }],
    ['p6', 'p5', 'p4', 'p3', 'p2', 'p1'],
  ),
  sorted('by a number in an object', 'A', { 'obj1.c#': '$asc' }, ['ADEEP', 'A04', 'A01', 'A02', 'A03']),
  sorted(
    'by the number of documents that two arrays join',
    'topic',
    [{ 'larger#': '$asc' }, { size: '$asc' }],
    ['t4', 't3', 't1', 't2'],
  ),
  sorted(
    'refuses a number in elements of an array',
    'A',
    { 'level1.arr1.*.ref#': '$asc' },
    'query-api:InvalidSort',
  ),
]
