/** Two entities, one of which refers to the other: documents of 300 to 500 bytes, and the figures about them. */
import { type Json, type Sent, findRequest, metadata, request } from './documents.ts'
import { BARE, type Figure, several } from './figure.ts'

export const ROOT = 'root'
export const CHILD = 'child'
export const CHILDREN_PER_ROOT = 3
/** So many roots share each value of `customer`, and so many children each value of `product`. */
const PER_CUSTOMER = 100
const PER_PRODUCT = 8
export const PAGE_OF_ROOTS = 20

/** In the order in which they can be stored: a reference is refused before there is what it refers to. */
export function referenceMetadata(): readonly (readonly [entity: string, metadata: Json])[] {
  const strings = (names: string): Record<string, Json> =>
    Object.fromEntries(names.split(' ').map((name) => [name, { type: 'string' }]))
  const child = {
    ...strings('root product name unit supplier note'),
    rank: { type: 'integer' },
    quantity: { type: 'integer' },
    price: { type: 'double' },
  }
  const root = {
    ...strings('customer status currency channel note'),
    orderedAt: { type: 'date' },
    address: { type: 'object', fields: { street: { type: 'string' }, city: { type: 'string' } } },
    children: {
      type: 'reference',
      entity: CHILD,
      query: { field: 'root', op: '=', rfield: '$parent._id' },
      sort: { rank: '$asc' },
    },
  }
  return [
    [CHILD, metadata(CHILD, child, ['root', 'product'])],
    [ROOT, metadata(ROOT, root, ['customer'])],
  ]
}

export function root(i: number, documents: number): Json {
  return {
    _id: rootId(i),
    customer: customerOf(i, documents),
    status: i % 3 === 0 ? 'shipped' : 'ordered',
    currency: 'CHF',
    channel: 'web',
    orderedAt: `202${i % 7}-0${(i % 9) + 1}-1${i % 10}T10:11:12.${String(i % 1_000).padStart(3, '0')}Z`,
    address: { street: `Technikumstrasse ${i % 200}`, city: 'Winterthur' },
    note: `Deliver to the back door, ring twice, and leave it with the neighbour when nobody answers. ${i}`,
  }
}

/** From none to six for a root. */
export function child(i: number, documents: number): Json {
  return {
    root: rootId(7 * Math.floor(i / HOLDERS.length) + HOLDERS[i % HOLDERS.length]!),
    product: productOf(i, documents),
    rank: (i * 7) % 10,
    name: `Article number ${i} of the catalogue`,
    unit: 'piece',
    supplier: `supplier ${i % 97}`,
    quantity: i % 50,
    price: (i % 10_000) / 8,
    note: `Handle with care, and keep upright and dry until it is unpacked. ${i}`,
  }
}

/** Which of seven roots the next 21 children belong to. */
const HOLDERS = [1, 2, 3, 4, 5, 6].flatMap((n) => Array.from({ length: n }, () => n))

function rootId(i: number): string {
  return `order-${String(i).padStart(9, '0')}`
}

function customerOf(i: number, documents: number): string {
  return `customer-${i % Math.max(1, Math.floor(documents / PER_CUSTOMER))}`
}

/** Children of one product belong to roots that lie far apart. */
function productOf(i: number, documents: number): string {
  return `product-${i % Math.max(1, Math.floor((documents * CHILDREN_PER_ROOT) / PER_PRODUCT))}`
}

export function referenceFigures(documents: number): readonly Figure[] {
  return [
    {
      name: 'refs-page',
      title: `page of ${PAGE_OF_ROOTS} with references`,
      connections: 16,
      requests: several(1_000, (i) => pageOfRoots(customerOf(i, documents))),
      against: BARE,
      isCompared: true,
    },
    {
      name: 'refs-child',
      title: `find ${PER_PRODUCT} by a reference`,
      connections: 16,
      requests: several(1_000, (i) => rootsByChild(productOf(i * 97, documents))),
      against: BARE,
      isCompared: true,
    },
  ]
}

const FIRST_PAGE = [0, PAGE_OF_ROOTS - 1]
const ALL = { field: '*', recursive: true }

function pageOfRoots(customer: string): Sent {
  const query = { field: 'customer', op: '=', rvalue: customer }
  const projection = [ALL, { field: 'children', recursive: true }]
  return find(findRequest(query, { range: FIRST_PAGE, projection }), `"customer":"${customer}"`)
}

/** The roots alone: a reference that the query names would be shown by the star. They are fewer than fit on the page. */
function rootsByChild(product: string): Sent {
  const query = { field: 'children.*.product', op: '=', rvalue: product }
  const projection = [ALL, { field: 'children', include: false, recursive: true }]
  return find(findRequest(query, { range: FIRST_PAGE, projection }), '"objectType":"root"')
}

function find(body: Json, expect: string): Sent {
  return { text: request('POST', `/data/find/${ROOT}`, JSON.stringify(body)), expect }
}
