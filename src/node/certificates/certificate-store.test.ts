import assert from 'node:assert/strict'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createCertificate } from '../../../test/builders/create-certificate.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { setAside } from '../../system/files/state/durable-file.ts'
import { CertificateStore } from './certificate-store.ts'
import { readCertificateFiles } from './read-certificate.ts'
import type { CertificateFiles } from './read-certificate.ts'

const HOUR_MS = 3_600_000

function place(t: TestContext) {
  const folder = join(mkdtempSync(join(tmpdir(), 'deckhand-store-')), 'pki')
  t.after(() => rmSync(join(folder, '..'), { recursive: true }))
  const clock = new FakeClock()
  const aside: string[] = []
  const create = async (lifetimeMs = HOUR_MS) => await createCertificate(clock.now(), lifetimeMs)
  const open = (
    fallback?: CertificateFiles,
    readFiles: (files: CertificateFiles) => ReturnType<typeof readCertificateFiles> = readCertificateFiles,
  ) =>
    new CertificateStore({
      folder,
      prefix: 'kubelet-client',
      fallback,
      readFiles,
      setAside: async (paths, suffix) => {
        aside.push(...paths)
        await setAside(paths, suffix)
      },
      clock,
      log: silentLogger,
    })
  return { folder, clock, create, open, aside, current: join(folder, 'kubelet-client-current.pem') }
}

describe('CertificateStore', () => {
  test('has nothing at first', async (t) => {
    const { open, current } = place(t)
    assert.equal(await open().read(), undefined)
    assert.equal(open().currentPath, current)
  })

  test('writes a file with the time in its name and a link that leads to it', async (t) => {
    const { folder, open, create, current, clock } = place(t)
    const first = await create()
    await open().write(first)
    const file = join(folder, 'kubelet-client-2026-01-01-00-00-00.pem')
    assert.equal(readlinkSync(current), file)
    assert.equal(readFileSync(current, 'utf8'), `${first.certificatePem}${first.keyPem}`)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    await clock.advance(90_000)
    const second = await create()
    await open().write(second)
    assert.deepEqual(readdirSync(folder).toSorted(), [
      'kubelet-client-2026-01-01-00-00-00.pem',
      'kubelet-client-2026-01-01-00-01-30.pem',
      'kubelet-client-current.pem',
    ])
    assert.equal((await open().read())?.certificatePem, second.certificatePem)
  })

  test('keeps the chain that comes with a certificate', async (t) => {
    const { open, create } = place(t)
    const [leaf, parent] = [await create(), await create()]
    await open().write({ certificatePem: `${leaf.certificatePem}${parent.certificatePem}`, keyPem: leaf.keyPem })
    const read = await open().read()
    assert.equal(read?.certificatePem, `${leaf.certificatePem}${parent.certificatePem}`)
    assert.equal(read.certificate.fingerprint256, leaf.certificate.fingerprint256)
  })

  test('does not take a key that belongs to another certificate', async (t) => {
    const { open, create, folder } = place(t)
    const pair = { certificatePem: (await create()).certificatePem, keyPem: (await create()).keyPem }
    await assert.rejects(open().write(pair), /its key belongs to another certificate/)
    assert.throws(() => readdirSync(folder), { code: 'ENOENT' })
  })

  test('reads files of others, then those of its own name, as long as it has none', async (t) => {
    const { folder, open, create } = place(t)
    mkdirSync(folder)
    const [own, other] = [await create(), await create()]
    const fallback = { certificateFile: join(folder, 'a.crt'), keyFile: join(folder, 'a.key') }
    writeFileSync(join(folder, 'kubelet-client.crt'), own.certificatePem)
    writeFileSync(join(folder, 'kubelet-client.key'), own.keyPem)
    assert.equal((await open(fallback).read())?.keyPem, own.keyPem)
    writeFileSync(fallback.certificateFile, 'half')
    writeFileSync(fallback.keyFile, other.keyPem)
    assert.equal((await open(fallback).read())?.keyPem, own.keyPem)
    writeFileSync(fallback.certificateFile, other.certificatePem)
    assert.equal((await open(fallback).read())?.keyPem, other.keyPem)
    const newest = await create()
    await open(fallback).write(newest)
    assert.equal((await open(fallback).read())?.keyPem, newest.keyPem)
  })

  test('finishes an update that was cut off', async (t) => {
    const { folder, open, create, current } = place(t)
    const certificate = await create()
    await open().write(certificate)
    symlinkSync(readlinkSync(current), join(folder, 'kubelet-client-updated.pem'))
    rmSync(current)
    assert.equal((await open().read())?.keyPem, certificate.keyPem)
    assert.equal(lstatSync(current).isSymbolicLink(), true)
    assert.equal(readdirSync(folder).includes('kubelet-client-updated.pem'), false)
  })

  test('sets a broken certificate aside and goes back to the newest one that is good', async (t) => {
    const { folder, open, create, current, clock, aside } = place(t)
    const [old, good, broken] = [await create(), await create(), await create()]
    for (const each of [old, good, broken]) {
      await open().write(each)
      await clock.advance(1000)
    }
    writeFileSync(readlinkSync(current), 'half of it')
    assert.equal((await open().read())?.keyPem, good.keyPem)
    assert.equal(readlinkSync(current), join(folder, 'kubelet-client-2026-01-01-00-00-01.pem'))
    assert.equal(readdirSync(folder).filter((name) => name.includes('.broken-')).length, 1)
    assert.equal((await open().read())?.keyPem, good.keyPem)
    assert.deepEqual(aside, [current])
  })

  for (const [lost, count] of [
    ['its target', 0],
    ['everything else', 1],
  ] as const) {
    test(`has nothing when a link is left without ${lost}`, async (t) => {
      const { folder, open, create, current, clock } = place(t)
      await open().write(await create(1000))
      await clock.advance(2000)
      if (lost === 'its target') rmSync(readlinkSync(current))
      else writeFileSync(current, '')
      assert.equal(await open().read(), undefined)
      const next = await create()
      await open().write(next)
      assert.equal((await open().read())?.keyPem, next.keyPem)
      assert.equal(readdirSync(folder).filter((name) => name.includes('.broken-')).length, count)
    })
  }

  const code = (name: string) => Object.assign(new Error(name), { code: name })

  test('leaves everything as it is when there is no descriptor to read it, and has it later', async (t) => {
    const { folder, open, create, clock } = place(t)
    const certificate = await create()
    await open().write(certificate)
    const before = readdirSync(folder)
    const reading = open(undefined, async () => {
      throw new Error('Cannot read it', { cause: code('EMFILE') })
    }).read()
    const life = { isOver: false }
    const failed = assert
      .rejects(reading, /Cannot read ".*kubelet-client-current.pem" now, it is left as it is: /)
      .finally(() => (life.isOver = true))
    for (let turns = 0; turns < 100_000 && !life.isOver; turns += 1) await clock.advance(500)
    await failed
    assert.deepEqual(readdirSync(folder), before)
    assert.equal((await open().read())?.keyPem, certificate.keyPem)
  })

  for (const name of ['EIO', 'EACCES', 'EISDIR'])
    test(`uses an earlier one while the newest cannot be read (${name}), and that again when it can`, async (t) => {
      const { folder, open, create, current, clock } = place(t)
      const [old, newest] = [await create(), await create()]
      await open().write(old)
      await clock.advance(1000)
      await open().write(newest)
      const [before, target] = [readdirSync(folder), readlinkSync(current)]
      const read = async (files: CertificateFiles) => {
        if ([current, target].includes(files.certificateFile)) throw new Error('Cannot read it', { cause: code(name) })
        return await readCertificateFiles(files)
      }
      assert.equal((await open(undefined, read).read())?.keyPem, old.keyPem)
      assert.deepEqual(readdirSync(folder), before)
      assert.equal((await open().read())?.keyPem, newest.keyPem)
    })

  for (const [what, lose] of [
    ['is lost', (current: string) => rmSync(current)],
    ['leads nowhere', (current: string) => rmSync(readlinkSync(current))],
  ] as const)
    test(`makes the link again when it ${what}`, async (t) => {
      const { open, create, current, clock } = place(t)
      const [old, newest] = [await create(), await create()]
      await open().write(old)
      await clock.advance(1000)
      await open().write(newest)
      lose(current)
      const expected = what === 'is lost' ? newest : old
      assert.equal((await open().read())?.keyPem, expected.keyPem)
      assert.equal(readFileSync(current, 'utf8'), `${expected.certificatePem}${expected.keyPem}`)
    })

  test('prefers an earlier one of its own to one of others that has ended', async (t) => {
    const { folder, open, create, current, clock } = place(t)
    const ours = await create()
    await open().write(ours)
    rmSync(current)
    const theirs = await create(1000)
    const fallback = { certificateFile: join(folder, 'a.crt'), keyFile: join(folder, 'a.key') }
    writeFileSync(fallback.certificateFile, theirs.certificatePem)
    writeFileSync(fallback.keyFile, theirs.keyPem)
    await clock.advance(2000)
    assert.equal((await open(fallback).read())?.keyPem, ours.keyPem)
  })

  test('returns an expired certificate too: the caller decides', async (t) => {
    const { open, create, clock } = place(t)
    await open().write(await create(1000))
    await clock.advance(HOUR_MS)
    assert.notEqual(await open().read(), undefined)
  })

  test('a file that was put in the place of the link is kept under another name', async (t) => {
    const { folder, open, create, current, aside } = place(t)
    mkdirSync(folder)
    const [theirs, ours] = [await create(), await create()]
    writeFileSync(current, `${theirs.certificatePem}${theirs.keyPem}`)
    assert.equal((await open().read())?.keyPem, theirs.keyPem)
    await open().write(ours)
    assert.equal((await open().read())?.keyPem, ours.keyPem)
    const kept = readdirSync(folder).find((name) => name.startsWith('kubelet-client-current.pem.old-')) ?? ''
    assert.ok(readFileSync(join(folder, kept), 'utf8').includes(theirs.keyPem))
    assert.deepEqual(aside, [], 'nothing is wrong with it')
  })
})
