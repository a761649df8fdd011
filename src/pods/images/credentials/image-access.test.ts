import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { countImages } from '../../../../test/fakes/counted-images.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import type { StateRecords } from '../../../system/files/state/create-record-folder.ts'
import type { VerificationPolicy } from './compute-pull-permission.ts'
import type { Credential } from './credential.ts'
import { hashLogin } from './hash-login.ts'
import { ImageAccess } from './image-access.ts'

class FakeFolder implements StateRecords {
  readonly files = new Map<string, string>()
  readonly aside: string[] = []
  failure: Error | undefined
  full = false

  async names() {
    return [...this.files.keys()]
  }
  async read(name: string) {
    if (this.failure !== undefined) throw this.failure
    return this.files.get(name)
  }
  async write(name: string, text: string) {
    if (this.full) throw new Error('disk is full')
    this.files.set(name, text)
  }
  async remove(name: string) {
    this.files.delete(name)
  }
  async setAside(name: string) {
    this.failure = undefined
    this.aside.push(this.files.get(name) ?? '')
    this.files.delete(name)
  }
}

const fileName = (text: string) => `sha256-${createHash('sha256').update(text).digest('hex')}`
const named = { image: 'r.example/web:1', ref: 'sha256:abc' }
const login = { username: 'me', password: 'hush' }
const credentialOf = (name: string, password = 'hush'): Credential => ({
  login: { username: 'me', password },
  secret: { uid: `u-${name}`, namespace: 'team', name },
})

function make(policy: VerificationPolicy | undefined = 'NeverVerifyPreloadedImages', allowlist: string[] = []) {
  const [pulled, pulling] = [new FakeFolder(), new FakeFolder()]
  const clock = new FakeClock()
  const warnings: string[] = []
  const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  const access = new ImageAccess({ policy, allowlist, pulled, pulling, clock, log })
  const mayUse = (...candidates: Credential[]) => access.mayUse(named, async () => candidates)
  const pull = async (credential?: Credential) => {
    await access.begin(named.image)
    await access.succeed(named, credential)
  }
  return { pulled, pulling, clock, warnings, access, mayUse, pull }
}

describe('ImageAccess', () => {
  test('counts the records on the disk', async () => {
    const [pulled, pulling] = [new FakeFolder(), new FakeFolder()]
    const { metrics, counted } = countImages()
    const policy = 'NeverVerifyPreloadedImages' as const
    const deps = { policy, allowlist: [], pulled, pulling, clock: new FakeClock(), log: silentLogger }
    const access = new ImageAccess({ ...deps, metrics })
    await access.recover(async () => undefined)
    await access.begin(named.image)
    await access.succeed(named, undefined)
    await access.prune(new Set(), Infinity)
    assert.deepEqual(counted, ['records 0 0', 'records 0 1', 'records 1 0', 'records 0 0'])
  })

  test('writes what the Go kubelet writes', async () => {
    const { pulled, pulling, access } = make()
    await access.begin(named.image)
    assert.deepEqual(
      [...pulling.files].map(([name, text]) => [name, JSON.parse(text)]),
      [
        [
          fileName(named.image),
          { kind: 'ImagePullIntent', apiVersion: 'kubelet.config.k8s.io/v1beta1', image: named.image },
        ],
      ],
    )
    await access.succeed(named, credentialOf('s'))
    assert.deepEqual([...pulling.files], [])
    const [[name, text] = ['', '']] = pulled.files
    const { lastUpdatedTime, ...record } = JSON.parse(text)
    assert.match(lastUpdatedTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(name, fileName(named.ref))
    assert.deepEqual(record, {
      kind: 'ImagePulledRecord',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      imageRef: named.ref,
      credentialMapping: {
        'r.example/web': {
          kubernetesSecrets: [{ uid: 'u-s', namespace: 'team', name: 's', credentialHash: hashLogin(login) }],
        },
      },
    })
  })

  test('opens to all what was pulled without a login or with one of the node', async () => {
    for (const credential of [undefined, { login, secret: undefined }]) {
      const { mayUse, pull } = make('AlwaysVerify')
      assert.equal(await mayUse(), false)
      await pull(credential)
      assert.equal(await mayUse(), true)
    }
  })

  test('opens what was pulled with a secret to those who have it or its login, and learns', async () => {
    const { pulled, mayUse, pull } = make()
    assert.equal(await mayUse(), true, 'it was there before')
    await pull(credentialOf('s'))
    assert.deepEqual([await mayUse(), await mayUse({ login, secret: undefined })], [false, false])
    assert.equal(await mayUse(credentialOf('s')), true)
    assert.equal(await mayUse(credentialOf('other', 'else')), false)
    assert.equal(await mayUse(credentialOf('copy')), true)
    assert.equal(await mayUse(credentialOf('copy', 'rotated')), true)
    assert.equal(await mayUse(credentialOf('third', 'rotated')), true)
    const [text = ''] = pulled.files.values()
    const { kubernetesSecrets } = JSON.parse(text).credentialMapping['r.example/web']
    assert.deepEqual(
      kubernetesSecrets.map(({ name }: { name: string }) => name),
      ['s', 'copy', 'third'],
    )
  })

  test('opens what was pulled for a service account to its pods alone, whatever their login is', async () => {
    const { pulled, mayUse, pull } = make()
    const of = (uid: string, password = 'hush'): Credential => ({
      login: { username: 'me', password },
      secret: undefined,
      account: { uid, namespace: 'team', name: 'robot' },
    })
    await pull(of('u-1'))
    assert.deepEqual(
      [await mayUse(of('u-1', 'next')), await mayUse({ login, secret: undefined }, of('u-1'))],
      [true, true],
    )
    assert.deepEqual([await mayUse(of('u-2')), await mayUse(credentialOf('s')), await mayUse()], [false, false, false])
    await pull(of('u-2'))
    await pull(credentialOf('s'))
    assert.deepEqual(
      [await mayUse(of('u-1')), await mayUse(of('u-2')), await mayUse(credentialOf('s'))],
      [true, true, true],
    )
    const [text = ''] = pulled.files.values()
    assert.deepEqual(JSON.parse(text).credentialMapping['r.example/web'].kubernetesServiceAccounts, [
      { uid: 'u-1', namespace: 'team', name: 'robot' },
      { uid: 'u-2', namespace: 'team', name: 'robot' },
    ])
  })

  test('does not ask for credentials that decide nothing', async () => {
    const { access, pull } = make()
    const ask = () => assert.fail('asked')
    assert.equal(await access.mayUse(named, ask), true)
    await pull()
    assert.equal(await access.mayUse(named, ask), true)
  })

  test('counts pulls of one image, and keeps the note until the last has ended', async () => {
    const { pulling, access, mayUse } = make()
    await Promise.all([access.begin(named.image), access.begin(named.image)])
    await access.fail(named.image)
    assert.deepEqual([pulling.files.size, await mayUse()], [1, false])
    await access.fail(named.image)
    assert.deepEqual([pulling.files.size, await mayUse()], [0, true])
  })

  test('does not open an image whose record could not be written', async () => {
    const { pulled, pulling, warnings, mayUse, pull } = make()
    pulled.full = true
    await pull(credentialOf('s'))
    assert.deepEqual([pulling.files.size, warnings, await mayUse()], [1, ['cannot write the record of a pull'], false])
  })

  test('fails a pull whose begin cannot be noted', async () => {
    const { pulling, access } = make()
    pulling.full = true
    await assert.rejects(access.begin(named.image), /disk is full/)
  })

  test('turns what a crash left into a record that opens to no pod', async () => {
    const { pulled, pulling, warnings, access, mayUse } = make()
    await access.begin(named.image)
    await access.begin('r.example/gone:1')
    pulling.files.set('sha256-x', 'nonsense')
    const next = make()
    for (const [name, text] of pulling.files) next.pulling.files.set(name, text)
    await next.access.recover(async (image) => (image === named.image ? named.ref : undefined))
    assert.deepEqual([...next.pulling.files.keys()], ['sha256-x'])
    assert.deepEqual(next.warnings, ['cannot make sense of the begin of a pull'])
    assert.deepEqual(
      [...next.pulled.files.values()].map((text) => JSON.parse(text).credentialMapping),
      [{}],
    )
    assert.deepEqual([await next.mayUse(), await next.mayUse(credentialOf('s'))], [false, false])
    assert.deepEqual([pulled.files.size, warnings, await mayUse()], [0, [], false])
  })

  test('goes on when its folders cannot be read', async () => {
    const { pulled, pulling, warnings, access } = make()
    pulled.names = pulling.names = () => Promise.reject(new Error('not a folder'))
    await access.recover(async () => undefined)
    await access.prune(new Set(), 0)
    assert.deepEqual(warnings, ['cannot make sense of the begin of a pull', 'cannot remove the record of a pull'])
  })

  test('leaves a record alone when a crash left an older pull', async () => {
    const { access, mayUse, pull } = make()
    await pull(credentialOf('s'))
    await access.begin(named.image)
    await access.recover(async () => named.ref)
    assert.equal(await mayUse(credentialOf('s')), true)
  })

  test('verifies again when a record is nonsense, reports it once, and replaces it', async () => {
    const { pulled, warnings, mayUse, pull } = make()
    pulled.files.set(fileName(named.ref), '{"kind":"ImagePulledRecord"')
    assert.deepEqual([await mayUse(), await mayUse()], [false, false])
    assert.deepEqual(warnings, ['cannot read the record of a pull, the image is verified again'])
    await pull()
    assert.equal(await mayUse(), true)
  })

  for (const [what, spoil] of [
    ['makes no sense', (folder: FakeFolder) => void folder.files.set(fileName(named.ref), '{')],
    ['cannot be read', (folder: FakeFolder) => void (folder.failure = new Error('EIO'))],
  ] as const)
    test(`sets a record aside that ${what}, and opens the image to no pod that cannot pull it`, async () => {
      const { pulled, pulling, access, mayUse, pull } = make()
      await pull(credentialOf('a'))
      spoil(pulled)
      const aside = pulled.files.get(fileName(named.ref))
      assert.equal(await mayUse(credentialOf('a')), false)
      assert.deepEqual([pulled.aside, pulled.files.size, pulling.files.size], [[aside], 1, 0])
      assert.equal(await mayUse(), false)
      spoil(pulled)
      await access.prune(new Set(), Infinity)
      assert.equal(pulled.aside.length, 2)
    })

  test('keeps the image closed while a broken record can be neither set aside nor replaced', async () => {
    const { pulled, pulling, mayUse, pull } = make()
    await pull()
    pulled.files.set(fileName(named.ref), '{')
    pulled.full = true
    assert.equal(await mayUse(), false)
    assert.deepEqual([pulled.files.size, pulling.files.size], [0, 1], 'it counts as one that is being pulled')
    assert.equal(await mayUse(), false)
  })

  test('leaves a record alone that cannot be read for the moment', async () => {
    const { pulled, mayUse, pull } = make()
    await pull(credentialOf('a'))
    const before = [...pulled.files]
    pulled.failure = Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
    assert.equal(await mayUse(credentialOf('a')), false)
    await pull(credentialOf('b'))
    pulled.failure = undefined
    assert.deepEqual([pulled.aside, [...pulled.files]], [[], before])
    assert.equal(await mayUse(credentialOf('a')), true)
  })

  test('removes records of images that are gone, but not new ones', async () => {
    const { pulled, clock, access, pull } = make()
    await pull()
    const start = clock.now()
    await access.prune(new Set([named.ref]), start + 5000)
    assert.equal(pulled.files.size, 1)
    await access.prune(new Set(), start)
    assert.equal(pulled.files.size, 1)
    await access.prune(new Set(), start + 5000)
    assert.equal(pulled.files.size, 0)
  })

  test('compares an allowlist by full names', async () => {
    const { access } = make('NeverVerifyAllowlistedImages', ['nginx', 'index.docker.io/team/*'])
    const ask = async () => []
    const uses = ['nginx:1', 'docker.io/team/a:1', 'other:1'].map((image) => access.mayUse({ image, ref: 'x' }, ask))
    assert.deepEqual(await Promise.all(uses), [true, true, false])
  })

  test('writes and asks nothing when the feature is off', async () => {
    const { pulled, pulling, access, mayUse } = make()
    const off = new ImageAccess({
      policy: undefined,
      allowlist: [],
      pulled,
      pulling,
      clock: new FakeClock(),
      log: silentLogger,
    })
    await off.begin(named.image)
    await off.succeed(named, credentialOf('s'))
    assert.deepEqual([pulled.files.size, pulling.files.size], [0, 0])
    assert.equal(await mayUse(), true)
    assert.equal(await access.mayUse(named, async () => []), true)
  })
})
