import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startKubectlApi } from './kubectl-api.ts'
import type { KubectlApi } from './kubectl-api.ts'

const SPEC = {
  type: 'object',
  description: 'What is grown.',
  required: ['crop'],
  properties: {
    crop: { type: 'string', description: 'The name of the plant.', enum: ['kale', 'leek'] },
    beds: { type: 'integer', minimum: 0, default: 2 },
    water: { type: 'object', properties: { perDay: { 'x-kubernetes-int-or-string': true } } },
  },
}
const STATUS = { type: 'object', properties: { beds: { type: 'integer' }, selector: { type: 'string' } } }
const COLUMNS = [
  { name: 'Crop', type: 'string', jsonPath: '.spec.crop' },
  { name: 'Beds', type: 'integer', jsonPath: '.status.beds' },
]

function definition(plural: string, kind: string, spec: object = {}, schema: object = SPEC): string {
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.farm.example` },
    spec: {
      group: 'farm.example',
      scope: 'Namespaced',
      names: {
        plural,
        kind,
        singular: kind.toLowerCase(),
        shortNames: [`${plural.slice(0, 3)}s`],
        categories: ['farm'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema, status: STATUS } } },
          additionalPrinterColumns: COLUMNS,
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.beds',
              statusReplicasPath: '.status.beds',
              labelSelectorPath: '.status.selector',
            },
          },
        },
      ],
      ...spec,
    },
  })
}

const field = (name: string, spec: object) =>
  JSON.stringify({ apiVersion: 'farm.example/v1', kind: 'Field', metadata: { name }, spec })

describe('kubectl with kinds of its user', () => {
  let api: KubectlApi
  before(async () => {
    api = await startKubectlApi()
    await api.run(['apply', '-f', '-'], definition('fields', 'Field'))
    await api.run(['wait', '--for=condition=Established', 'crd/fields.farm.example', '--timeout=10s'])
  })
  after(async () => await api[Symbol.asyncDispose]())

  test('makes objects with defaults and without unknown fields, and shows the columns', async () => {
    assert.equal(
      await api.run(['create', '-f', '-'], field('north', { crop: 'kale' })),
      'field.farm.example/north created\n',
    )
    const loose = field('south', { crop: 'leek', beds: 7, weeds: 'many', water: { perDay: '2l' } })
    await api.run(['create', '--validate=false', '-f', '-'], loose)
    assert.equal(await api.run(['get', 'field', 'north', '-o', 'jsonpath={.spec}']), '{"beds":2,"crop":"kale"}')
    const south = JSON.parse(await api.run(['get', 'fies', 'south', '-o', 'jsonpath={.spec}'])) as object
    assert.deepEqual(south, { beds: 7, crop: 'leek', water: { perDay: '2l' } })
    const [head = '', first = ''] = (await api.run(['get', 'farm'])).split('\n')
    assert.deepEqual(head.trim().split(/ {2,}/), ['NAME', 'CROP', 'BEDS'])
    assert.deepEqual(first.trim().split(/ {2,}/).slice(0, 2), ['north', 'kale'])
  })

  test('gets an error for what is not as the schema says', async () => {
    assert.match(
      await api.fail(['create', '-f', '-'], field('bad', { crop: 'wheat', beds: -1 })),
      /spec\.crop: Unsupported value: "wheat": supported values: "kale", "leek"/,
    )
    assert.match(
      await api.fail(['create', '--validate=false', '-f', '-'], field('bad', {})),
      /spec\.crop: Required value/,
    )
    const unknown = field('bad', { crop: 'kale', weeds: 'many' })
    const strict = await api.fail(['create', '--validate=true', '-f', '-'], unknown)
    assert.match(strict, /unknown field "(?:spec\.)?weeds"/)
  })

  test('explains', async (t) => {
    if (api.minor < 27) return t.skip('this kubectl does not ask for OpenAPI v3')
    const output = await api.run(['explain', 'field.spec'])
    assert.match(output, /What is grown\./)
    assert.match(output, /crop\s+<string> -required-/)
    assert.match(await api.run(['explain', 'field.spec.crop']), /The name of the plant\./)
  })

  test('keeps status and scale apart from the rest', async () => {
    const path = '/apis/farm.example/v1/namespaces/default/fields/north'
    const object = JSON.parse(await api.run(['get', '--raw', path])) as { readonly spec: object }
    const status = { beds: 2, selector: 'crop=kale' }
    const changed = JSON.stringify({ ...object, spec: { crop: 'leek' }, status })
    await api.run(['replace', '--raw', `${path}/status`, '-f', '-'], changed)
    const read = async (what: string) => await api.run(['get', 'field', 'north', '-o', `jsonpath=${what}`])
    assert.deepEqual([await read('{.spec.crop}'), await read('{.status.beds}')], ['kale', '2'])
    assert.equal(await read('{.metadata.generation}'), '1')
    const plain = JSON.stringify({ status: { beds: 9 } })
    await api.run(['patch', 'field', 'north', '--type=merge', '-p', plain])
    assert.equal(await read('{.status.beds}'), '2')
    await api.run(['scale', 'field/north', '--replicas=5'])
    assert.deepEqual([await read('{.spec.beds}'), await read('{.metadata.generation}')], ['5', '2'])
    const scale = JSON.parse(await api.run(['get', '--raw', `${path}/scale`])) as { readonly status: object }
    assert.deepEqual(scale.status, { replicas: 2, selector: 'crop=kale' })
  })

  test('applies by field, on the server', async () => {
    const applied = ['apply', '--server-side', '--field-manager=gardener', '-f', '-']
    await api.run(applied, field('west', { crop: 'kale', beds: 1 }))
    await api.run(['scale', 'field/west', '--replicas=3'])
    assert.match(
      await api.fail(applied, field('west', { crop: 'kale', beds: 1 })),
      /conflict with "kubectl".*\n?.*\.spec\.beds/,
    )
    await api.run(applied, field('west', { crop: 'leek' }))
    assert.equal(await api.run(['get', 'field', 'west', '-o', 'jsonpath={.spec.crop}{.spec.beds}']), 'leek3')
  })

  test('sees a watch end when a definition changes, and when it goes', async () => {
    await api.run(['apply', '-f', '-'], definition('barns', 'Barn'))
    await api.run(['wait', '--for=condition=Established', 'crd/barns.farm.example', '--timeout=10s'])
    const barn = (name: string) => field(name, { crop: 'kale' }).replace('"Field"', '"Barn"')
    await api.run(['create', '-f', '-'], barn('old'))
    await using before = api.start(['get', 'barns', '--watch', '-o', 'name'])
    await before.output(/barn\.farm\.example\/old/)
    // As with the real API: clients list again, and see objects by the new schema.
    await api.run(['apply', '-f', '-'], definition('barns', 'Barn', {}, { ...SPEC, description: 'Where it is kept.' }))
    await before.ended()
    await using later = api.start(['get', 'barns', '--watch', '-o', 'name'])
    await later.output(/barn\.farm\.example\/old/)
    await api.run(['create', '-f', '-'], barn('new'))
    await later.output(/barn\.farm\.example\/new/)
    await api.run(['delete', 'crd', 'barns.farm.example', '--timeout=10s'])
    await later.ended()
    // kubectl may have the list of kinds in its cache.
    assert.match(await api.fail(['get', 'barns']), /could not find the requested resource|doesn't have a resource type/)
  })

  test('is refused what this API does not do, with a sentence', async () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://farm.example' } },
    }
    assert.match(
      await api.fail(['apply', '-f', '-'], definition('mills', 'Mill', { conversion })),
      /spec\.conversion\.strategy: .*this server calls no webhooks: give all versions the same shape/,
    )
    const rules = [{ rule: 'self.beds < 9', message: 'too many' }]
    assert.match(
      await api.fail(
        ['apply', '-f', '-'],
        definition('mills', 'Mill', {}, { ...SPEC, 'x-kubernetes-validations': rules }),
      ),
      /x-kubernetes-validations: Forbidden: validation rules are not supported by this server/,
    )
    assert.doesNotMatch(await api.run(['get', 'crd', '-o', 'name']), /mills/)
  })
})
