import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as nodeFiles from 'node:fs/promises'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import * as fc from 'fast-check'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { setUmask } from '../../../../test/fixtures/set-umask.ts'
import { createAtomicWriter } from './atomic-writer.ts'
import type { FileCalls } from './held-directory.ts'
import type { Payload } from './payload.ts'

const NOON = Date.UTC(2025, 10, 15, 19, 43, 7)

async function makeDirectory(t?: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'deckhand-writer-'))
  t?.after(() => rm(directory, { recursive: true }))
  return directory
}

/** A writer whose versions are numbered. */
function createWriter(files?: FileCalls) {
  let drawn = 0
  const random = () => (drawn += 1) / 1e10
  return createAtomicWriter({ clock: new FakeClock(NOON), random, ...(files && { files }) })
}

function payloadOf(texts: Readonly<Record<string, string>>, mode = 0o644): Payload {
  return new Map(Object.entries(texts).map(([path, text]) => [path, { content: Buffer.from(text), mode }]))
}

/** What users see: the text behind each visible path. */
async function shown(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  const walk = async (prefix: string): Promise<void> => {
    for (const name of await readdir(join(directory, prefix))) {
      if (prefix === '' && name.startsWith('..')) continue
      const path = join(prefix, name)
      if ((await stat(join(directory, path))).isDirectory()) await walk(path)
      else found[path] = await readFile(join(directory, path), 'utf8')
    }
  }
  await walk('')
  return found
}

const own = async (directory: string) => (await readdir(directory)).filter((name) => name.startsWith('..')).toSorted()
const modeOf = async (path: string) => (await lstat(path)).mode & 0o7777

describe('createAtomicWriter()', () => {
  test('makes the layout that others know', async (t) => {
    const directory = await makeDirectory(t)
    const payload = payloadOf({ 'a.conf': 'a', 'dir/b': 'b', 'dir/deep/c': 'c' })
    assert.equal(await createWriter().write({ directory, payload, group: undefined }), true)
    assert.deepEqual(await own(directory), ['..2025_11_15_19_43_07.1', '..data'])
    assert.equal(await readlink(join(directory, '..data')), '..2025_11_15_19_43_07.1')
    assert.equal(await readlink(join(directory, 'a.conf')), '..data/a.conf')
    assert.equal(await readlink(join(directory, 'dir')), '..data/dir')
    assert.deepEqual(await shown(directory), { 'a.conf': 'a', 'dir/b': 'b', 'dir/deep/c': 'c' })
  })

  test('writes nothing when the content is the same, also under another mode', async (t) => {
    const directory = await makeDirectory(t)
    const writer = createWriter()
    await writer.write({ directory, payload: payloadOf({ a: 'a', 'd/b': '' }), group: undefined })
    assert.equal(await writer.write({ directory, payload: payloadOf({ a: 'a', 'd/b': '' }, 0o600), group: 0 }), false)
    assert.deepEqual(await own(directory), ['..2025_11_15_19_43_07.1', '..data'])
    assert.equal(await modeOf(join(directory, '..data/a')), 0o644)
  })

  test('puts back a visible name that was removed or changed', async (t) => {
    const directory = await makeDirectory(t)
    const writer = createWriter()
    const payload = payloadOf({ a: 'a', b: 'b' })
    await writer.write({ directory, payload, group: undefined })
    await unlink(join(directory, 'a'))
    await unlink(join(directory, 'b'))
    await symlink('/etc/passwd', join(directory, 'b'))
    assert.equal(await writer.write({ directory, payload, group: undefined }), false)
    assert.deepEqual(await shown(directory), { a: 'a', b: 'b' })
  })

  test('replaces, adds and removes; the old version goes', async (t) => {
    const directory = await makeDirectory(t)
    const writer = createWriter()
    const texts = [{ a: '1', b: '1' }, { a: '2', 'c/x': '2' }, {}, { 'c/x': '3' }, { c: '4' }]
    for (const [index, text] of texts.entries()) {
      assert.equal(await writer.write({ directory, payload: payloadOf(text), group: undefined }), true)
      assert.deepEqual(await shown(directory), text)
      assert.deepEqual(await own(directory), [`..2025_11_15_19_43_07.${index + 1}`, '..data'])
    }
  })

  test('leaves directories of others alone, also those with a name of a file: volumes are mounted on them', async (t) => {
    const directory = await makeDirectory(t)
    await mkdir(join(directory, 'nested'))
    const writer = createWriter()
    await writer.write({ directory, payload: payloadOf({ a: '1', 'nested/x': '1' }), group: undefined })
    await writer.write({ directory, payload: payloadOf({ b: '2' }), group: undefined })
    assert.deepEqual(
      (await readdir(directory)).filter((name) => !name.startsWith('..')),
      ['b', 'nested'],
    )
    assert.equal((await lstat(join(directory, 'nested'))).isDirectory(), true)
  })

  test('refuses a bad path before it changes anything', async (t) => {
    const directory = await makeDirectory(t)
    const payload = payloadOf({ a: '', '../b': '' })
    await assert.rejects(createWriter().write({ directory, payload, group: undefined }), { name: 'PayloadError' })
    assert.deepEqual(await readdir(directory), [])
  })

  test('modes are exact whatever the umask, and the group gets to read', async (t) => {
    const directory = await makeDirectory(t)
    setUmask(t, 0o077)
    const payload: Payload = new Map([
      ['open', { content: Buffer.from('x'), mode: 0o666 }],
      ['dir/closed', { content: Buffer.from('x'), mode: 0o400 }],
    ])
    const modes = async () =>
      await Promise.all(['', 'open', 'dir', 'dir/closed'].map((path) => modeOf(`${directory}/..data/./${path}`)))
    await createWriter().write({ directory, payload, group: undefined })
    assert.deepEqual(await modes(), [0o755, 0o666, 0o755, 0o400])
    await rm(join(directory, '..data'))
    await createWriter().write({ directory, payload, group: process.getgid?.() })
    assert.deepEqual(await modes(), [0o2755, 0o666, 0o2755, 0o440])
  })

  test('follows no link that a privileged pod put into the volume', async (t) => {
    const directory = await makeDirectory(t)
    const outside = await makeDirectory(t)
    await writeFile(join(outside, 'precious'), 'x')
    const writer = createWriter()
    await writer.write({ directory, payload: payloadOf({ a: '1' }), group: undefined })
    await unlink(join(directory, '..data'))
    await symlink(outside, join(directory, '..data'))
    await symlink(outside, join(directory, '..2025_11_15_19_43_07.99'))
    await writer.write({ directory, payload: payloadOf({ precious: '2' }), group: undefined })
    assert.deepEqual(await shown(directory), { precious: '2' })
    assert.equal(await readFile(join(outside, 'precious'), 'utf8'), 'x')
    assert.deepEqual(await own(directory), ['..2025_11_15_19_43_07.2', '..data'])
  })

  test('repairs a version that was changed, without waiting for a FIFO in it', async (t) => {
    const directory = await makeDirectory(t)
    const writer = createWriter()
    const payload = payloadOf({ a: 'a', 'd/b': 'b' })
    for (const spoil of [
      async (version: string) => {
        await unlink(join(version, 'a'))
        await once(spawn('mkfifo', [join(version, 'a')]), 'exit')
      },
      async (version: string) => await writeFile(join(version, 'd/more'), ''),
      async (version: string) => {
        await rm(join(version, 'd'), { recursive: true })
        await symlink('/etc', join(version, 'd'))
      },
    ]) {
      await writer.write({ directory, payload, group: undefined })
      await chmod(directory, 0o755)
      await spoil(join(directory, await readlink(join(directory, '..data'))))
      assert.equal(await writer.write({ directory, payload, group: undefined }), true)
      assert.deepEqual(await shown(directory), { a: 'a', 'd/b': 'b' })
    }
  })

  test('takes another name when one is used already', async (t) => {
    const directory = await makeDirectory(t)
    const draws = [0.5, 0.5, 0.25]
    const random = () => draws.shift() ?? 0
    const writer = createAtomicWriter({ clock: new FakeClock(NOON), random })
    await writer.write({ directory, payload: payloadOf({ a: '1' }), group: undefined })
    await writer.write({ directory, payload: payloadOf({ a: '2' }), group: undefined })
    assert.deepEqual(await own(directory), ['..2025_11_15_19_43_07.2500000000', '..data'])
  })
})

/** Calls of which all fail from a certain one on, as if the process had died there. */
function dyingFiles(callsLeft: number): { readonly files: FileCalls; readonly died: () => boolean } {
  let left = callsLeft
  const step = () => {
    left -= 1
    if (left < 0) throw new Error('dead')
  }
  const wrap = <T extends object>(target: T, except: readonly (string | symbol)[]): T =>
    new Proxy(target, {
      get(_, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function' || except.includes(name)) {
          return typeof value === 'function' ? value.bind(target) : value
        }
        return async (...args: unknown[]) => {
          step()
          const result: unknown = await Reflect.apply(value, target, args)
          return name === 'open' ? wrap(result as object, ['close', 'stat', Symbol.asyncDispose]) : result
        }
      },
    })
  return { files: wrap({ ...nodeFiles }, []), died: () => left < 0 }
}

describe('a writer that dies', () => {
  const old = payloadOf({ a: 'old', b: 'old', 'd/x': 'old' })
  const next = payloadOf({ a: 'new', c: 'new', 'd/y': 'new' })
  const texts = (payload: Payload) =>
    Object.fromEntries([...payload].map(([path, { content }]) => [path, Buffer.from(content).toString()]))

  for (const then of ['the same', 'the old'] as const)
    test(`at any step shows old or new, and ${then} content written next repairs all`, async () => {
      const wanted = then === 'the same' ? next : old
      let steps = 0
      for (let died = true; died; steps += 1) {
        const directory = await makeDirectory()
        await createWriter().write({ directory, payload: old, group: undefined })
        const dying = dyingFiles(steps)
        let drawn = 100
        const random = () => (drawn += 1) / 1e10
        const writer = createAtomicWriter({ clock: new FakeClock(NOON), random, files: dying.files })
        await writer.write({ directory, payload: next, group: undefined }).catch(() => {})
        died = dying.died()
        const data = texts(await readVersion(directory))
        assert.ok(
          [texts(old), texts(next)].some((one) => isSame(one, data)),
          `mixed after ${steps} steps`,
        )
        await createWriter().write({ directory, payload: wanted, group: undefined })
        assert.deepEqual(await shown(directory), texts(wanted), `after ${steps} steps`)
        assert.equal((await own(directory)).length, 2, `leftovers after ${steps} steps`)
        await rm(directory, { recursive: true })
      }
      assert.ok(steps > 30, `only ${steps} steps were tried`)
    })

  async function readVersion(directory: string): Promise<Payload> {
    const data = join(directory, '..data')
    const paths = (await readdir(data, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    return new Map(
      await Promise.all(
        paths.map(async ({ parentPath, name }) => {
          const path = join(parentPath, name)
          return [path.slice(data.length + 1), { content: await readFile(path), mode: 0 }] as const
        }),
      ),
    )
  }

  function isSame(a: object, b: object): boolean {
    try {
      assert.deepEqual(a, b)
      return true
    } catch {
      return false
    }
  }
})

test('whatever was there and whatever comes: exactly the new files are shown', async () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
  const payload = fc
    .uniqueArray(fc.tuple(path, fc.string()), { selector: ([key]) => key, maxLength: 5 })
    // A path cannot be a file and a directory.
    .map((entries) =>
      entries.filter(([key]) => !entries.some(([other]) => other.startsWith(`${key}/`) || key.startsWith(`${other}/`))),
    )
    .map((entries) => Object.fromEntries(entries))
  await fc.assert(
    fc.asyncProperty(payload, payload, async (before, after) => {
      const directory = await makeDirectory()
      const writer = createWriter()
      for (const texts of [before, after]) {
        await writer.write({ directory, payload: payloadOf(texts), group: undefined })
        assert.deepEqual(await shown(directory), { ...texts })
        assert.equal((await own(directory)).length, 2)
      }
      assert.equal(await writer.write({ directory, payload: payloadOf(after), group: undefined }), false)
      await rm(directory, { recursive: true })
    }),
    { numRuns: 50 },
  )
})
