import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../base/async/clock.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { LogFields, Logger } from '../../base/telemetry/logger.ts'
import { createLastGoodManifests } from '../../system/directories/last-good-manifests.ts'
import { decodeStaticPods } from './decode-static-pod.ts'
import { RefusedManifests } from './refused-manifests.ts'
import { runFileSource } from './run-file-source.ts'

function manifest(name: string, image = 'nginx', more = ''): string {
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: c\n    image: ${image}\n${more}`
}

/** As careful writers do: a reader never sees half of it. */
async function replaceFile(path: string, content: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}`)
  await writeFile(draft, content)
  await rename(draft, path)
}

interface LogLine extends LogFields {
  readonly message: string
}

/** Keeps the lines above debug, without the temporary directory in front of file names. */
function createLogger(directory: string, lines: LogLine[]): Logger {
  const log = (message: string, fields: LogFields = {}) => {
    const shown = Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.replaceAll(`${directory}/`, '').replaceAll(directory, '') : value,
    ])
    lines.push({ message, ...Object.fromEntries(shown) })
  }
  return { error: log, warn: log, info: log, debug: () => {}, child: () => createLogger(directory, lines) }
}

/** A file source on a temporary directory, and the sets it emits as "pod=image". */
class SourceUnderTest {
  readonly directory: string
  readonly lines: LogLine[] = []
  readonly emissions: string[][] = []
  readonly refused = new RefusedManifests()
  decoded = 0
  #wake = Promise.withResolvers<void>()
  readonly #stop = new AbortController()
  #running = Promise.resolve()

  constructor(directory: string) {
    this.directory = directory
  }

  start(path: string, options: { clock?: Clock; checkFrequencyMs?: number } = {}): void {
    const settings = { nodeName: 'n', refuseApiReferences: true }
    this.#running = runFileSource(
      {
        path,
        checkFrequencyMs: options.checkFrequencyMs ?? 20_000,
        clock: options.clock ?? systemClock,
        logger: createLogger(this.directory, this.lines),
        decode: (bytes, file) => {
          this.decoded++
          return decodeStaticPods(bytes, { kind: 'file', path: file }, settings)
        },
        lastGood: createLastGoodManifests(join(this.directory, '.last-good')),
        refused: this.refused,
        emit: (pods) => this.#take(pods),
      },
      this.#stop.signal,
    )
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('Test ended'))
    await this.#running
  }

  /** Waits until the newest set is this. */
  async settles(...expected: readonly string[]): Promise<void> {
    const wanted = JSON.stringify(expected)
    while (JSON.stringify(this.emissions.at(-1)) !== wanted) {
      if (this.emissions.length > 1000) assert.deepEqual(this.emissions.at(-1), expected)
      await this.#wake.promise
    }
  }

  /** Waits until this was logged. */
  async logs(message: string, count = 1): Promise<readonly LogLine[]> {
    for (;;) {
      const found = this.lines.filter((line) => line.message === message)
      if (found.length >= count) return found
      // A log line is no emission; a turn of the loop, not a time, is waited for.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  #take(pods: readonly Pod[]): void {
    this.emissions.push(pods.map(({ metadata, spec }) => `${metadata.name}=${spec.containers[0]?.image}`))
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }
}

async function createSource(t: TestContext): Promise<SourceUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'manifests-'))
  const source = new SourceUnderTest(directory)
  t.after(async () => {
    await source.stop()
    await rm(directory, { recursive: true, force: true })
  })
  return source
}

describe('runFileSource()', { timeout: 20_000 }, () => {
  test('emits what is there, then what is written, changed, renamed and removed', async (t) => {
    const source = await createSource(t)
    const file = (name: string) => join(source.directory, name)
    await writeFile(file('b.yaml'), manifest('b'))
    await writeFile(
      file('a.json'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'c', image: 'nginx' }] },
      }),
    )
    await writeFile(file('.hidden'), manifest('hidden'))
    source.start(source.directory)
    await source.settles('a-n=nginx', 'b-n=nginx')
    await writeFile(file('c'), manifest('c'))
    await source.settles('a-n=nginx', 'b-n=nginx', 'c-n=nginx')
    await writeFile(file('b.yaml'), manifest('b', 'busybox'))
    await source.settles('a-n=nginx', 'b-n=busybox', 'c-n=nginx')
    await rename(file('c'), file('.c'))
    await source.settles('a-n=nginx', 'b-n=busybox')
    await rm(file('a.json'))
    await source.settles('b-n=busybox')
    assert.deepEqual(source.lines, [])
  })

  test('lists what it refuses until it is good or gone', async (t) => {
    const source = await createSource(t)
    const file = (name: string) => join(source.directory, name)
    await writeFile(file('a.yaml'), manifest('a'))
    await writeFile(file('b.yaml'), 'apiVersion: apps/v1\nkind: Deployment\n')
    source.start(source.directory)
    await source.settles('a-n=nginx')
    await source.logs('manifest is invalid')
    await writeFile(file('a.yaml'), manifest('a', '5'))
    await source.logs('manifest is invalid, the last good version keeps running')
    assert.deepEqual(
      source.refused.list().map(({ file: path, line, hasLastGood }) => [path, line, hasLastGood]),
      [
        [file('a.yaml'), 8, true],
        [file('b.yaml'), 2, false],
      ],
    )
    assert.match(source.refused.list()[1]?.reason ?? '', /^kind: expected "Pod", not "Deployment": apply it to the API/)
    await rm(file('b.yaml'))
    await writeFile(file('a.yaml'), manifest('a', 'busybox'))
    await source.settles('a-n=busybox')
    await writeFile(file('c.yaml'), manifest('c'))
    await source.settles('a-n=busybox', 'c-n=nginx')
    assert.deepEqual(source.refused.list(), [])
  })

  test('lists a manifest with a pod that another one has, until one of them is gone', async (t) => {
    const source = await createSource(t)
    const file = (name: string) => join(source.directory, name)
    for (const name of ['a.yaml', 'b.yaml']) await writeFile(file(name), manifest('web'))
    source.start(source.directory)
    await source.logs('two manifests have a pod of the same name')
    const reason = `${file('a.yaml')} has a pod of the same name, default/web-n: only one of them runs`
    assert.deepEqual(source.refused.list(), [
      { file: file('b.yaml'), reason, hasLastGood: false, names: ['default/web-n'] },
    ])
    await rm(file('a.yaml'))
    await source.settles('web-n=nginx')
    assert.deepEqual(source.refused.list(), [])
  })

  test('lists fields that it does not use, and the names in what it refuses', async (t) => {
    const source = await createSource(t)
    const file = (name: string) => join(source.directory, name)
    await writeFile(file('a.yaml'), `${manifest('a')}odd: 1\n`)
    await writeFile(file('b.yaml'), `${manifest('b', '5')}---\n${manifest('c')}`)
    source.start(source.directory)
    await source.settles('a-n=nginx')
    await source.logs('manifest is invalid')
    assert.deepEqual(source.refused.unused(), [
      {
        file: file('a.yaml'),
        line: manifest('a').split('\n').length,
        reason: 'odd: unknown field, ignored',
        names: ['default/a-n'],
      },
    ])
    assert.deepEqual(
      source.refused.list().map(({ names }) => names),
      [['default/b', 'default/c']],
    )
    await writeFile(file('a.yaml'), manifest('a', 'busybox'))
    await source.settles('a-n=busybox')
    assert.deepEqual(source.refused.unused(), [])
  })

  test('takes a file that was removed and made again at once for another one', async (t) => {
    const source = await createSource(t)
    const [path, away] = [join(source.directory, 'a'), join(source.directory, '.a')]
    writeFileSync(path, manifest('a'))
    source.start(source.directory)
    await source.settles('a-n=nginx')
    rmSync(path)
    writeFileSync(path, manifest('a'))
    await source.settles()
    await source.settles('a-n=nginx')
    renameSync(path, away)
    renameSync(away, path)
    await source.settles()
    await source.settles('a-n=nginx')
    assert.deepEqual(source.lines, [])
  })

  test('… also when it was made between two readings, the first of which found nothing', async (t) => {
    const source = await createSource(t)
    const path = join(source.directory, 'a')
    writeFileSync(path, manifest('a'))
    let isRemoved = false
    const clock: Clock = {
      ...systemClock,
      // Asked for the time between them.
      monotonic() {
        if (isRemoved) writeFileSync(path, manifest('a'))
        isRemoved = false
        return systemClock.monotonic()
      },
    }
    source.start(source.directory, { clock })
    await source.settles('a-n=nginx')
    await sleep(20)
    rmSync(path)
    isRemoved = true
    await source.settles()
    await source.settles('a-n=nginx')
    assert.equal(isRemoved, false)
  })

  test('… also when it was made just before it was read, with another file that changed', async (t) => {
    const source = await createSource(t)
    const path = join(source.directory, 'a')
    writeFileSync(path, manifest('a'))
    let isRemoved = false
    const clock: Clock = {
      ...systemClock,
      async sleep(ms, signal) {
        await systemClock.sleep(ms, signal)
        // The pause after the first reports, that of the removal among them.
        if (isRemoved && ms < 20) {
          writeFileSync(path, manifest('a'))
          isRemoved = false
        }
      },
    }
    source.start(source.directory, { clock })
    await source.settles('a-n=nginx')
    await sleep(20)
    writeFileSync(join(source.directory, 'b'), manifest('b'))
    rmSync(path)
    isRemoved = true
    await source.settles('b-n=nginx')
    await source.settles('a-n=nginx', 'b-n=nginx')
    assert.equal(isRemoved, false)
    await sleep(20)
    assert.deepEqual(source.emissions.slice(-2), [['b-n=nginx'], ['a-n=nginx', 'b-n=nginx']])
  })

  test('takes a file that was touched, rewritten or exchanged in one step for the same one', async (t) => {
    const source = await createSource(t)
    const path = join(source.directory, 'a')
    await writeFile(path, manifest('a'))
    source.start(source.directory)
    await source.settles('a-n=nginx')
    utimesSync(path, new Date(), new Date())
    writeFileSync(path, manifest('a'))
    await replaceFile(path, manifest('a'))
    await writeFile(join(source.directory, 'b'), manifest('b'))
    await source.settles('a-n=nginx', 'b-n=nginx')
    assert.equal(
      source.emissions.every((pods) => pods.includes('a-n=nginx')),
      true,
      JSON.stringify(source.emissions),
    )
  })

  test('counts as seen with a path that is missing, and finds it when it comes', async (t) => {
    const source = await createSource(t)
    const path = join(source.directory, 'later')
    source.start(path)
    await source.settles()
    await mkdir(path)
    await writeFile(join(path, 'a'), manifest('a'))
    await source.settles('a-n=nginx')
    await rm(path, { recursive: true })
    await source.settles()
    assert.deepEqual(source.lines[0], { message: 'cannot read the manifests', path: 'later', reason: 'missing' })
  })

  test('follows a directory that another one replaces', async (t) => {
    const source = await createSource(t)
    const path = join(source.directory, 'd')
    await mkdir(path)
    await writeFile(join(path, 'a'), manifest('a'))
    source.start(path, { checkFrequencyMs: 50 })
    await source.settles('a-n=nginx')
    await mkdir(join(source.directory, 'new'))
    await writeFile(join(source.directory, 'new', 'b'), manifest('b'))
    await rename(path, join(source.directory, 'old'))
    await rename(join(source.directory, 'new'), path)
    await source.settles('b-n=nginx')
    await writeFile(join(path, 'c'), manifest('c'))
    await source.settles('b-n=nginx', 'c-n=nginx')
  })

  test('reads one file, also when it is replaced by renaming', async (t) => {
    const source = await createSource(t)
    const path = join(source.directory, 'pod.yaml')
    await writeFile(path, manifest('a'))
    await writeFile(join(source.directory, 'other.yaml'), manifest('other'))
    source.start(path)
    await source.settles('a-n=nginx')
    await writeFile(`${path}.new`, manifest('a', 'busybox'))
    await rename(`${path}.new`, path)
    await source.settles('a-n=busybox')
  })

  test('follows a ConfigMap as it is mounted', async (t) => {
    const source = await createSource(t)
    const at = (...names: string[]) => join(source.directory, ...names)
    for (const version of ['1', '2']) {
      await mkdir(at(`..${version}`))
      await writeFile(at(`..${version}`, 'a'), manifest('a', `nginx:${version}`))
    }
    await symlink('..1', at('..data'))
    await symlink('..data/a', at('a'))
    source.start(source.directory)
    await source.settles('a-n=nginx:1')
    await symlink('..2', at('..tmp'))
    await rename(at('..tmp'), at('..data'))
    await source.settles('a-n=nginx:2')
  })

  test('keeps the last good version of a manifest that becomes invalid, until the file is gone', async (t) => {
    const source = await createSource(t)
    const path = join(source.directory, 'a')
    await writeFile(path, manifest('a'))
    source.start(source.directory, { checkFrequencyMs: 30 })
    await source.settles('a-n=nginx')
    await replaceFile(path, manifest('a', '""'))
    const [line] = await source.logs('manifest is invalid, the last good version keeps running')
    assert.deepEqual(line, {
      message: 'manifest is invalid, the last good version keeps running',
      file: 'a',
      line: 8,
      column: 5,
      field: 'spec.containers[0].image',
      reason: 'Required value',
      problems: 1,
    })
    await replaceFile(join(source.directory, 'b'), manifest('b'))
    await source.settles('a-n=nginx', 'b-n=nginx')
    await replaceFile(path, manifest('a', 'busybox'))
    await source.settles('a-n=busybox', 'b-n=nginx')
    await rm(path)
    await source.settles('b-n=nginx')
    assert.equal(source.lines.length, 1)
  })

  test('keeps the last good version also over the end of the agent', async (t) => {
    const first = await createSource(t)
    const path = join(first.directory, 'a')
    await writeFile(path, manifest('a'))
    await writeFile(join(first.directory, 'b'), manifest('b'))
    first.start(first.directory)
    await first.settles('a-n=nginx', 'b-n=nginx')
    await first.stop()
    await writeFile(path, 'kind: [')
    await rm(join(first.directory, 'b'))
    const second = new SourceUnderTest(first.directory)
    t.after(() => second.stop())
    second.start(first.directory)
    await second.settles('a-n=nginx')
    assert.deepEqual(
      second.lines.map(({ message }) => message),
      ['manifest is invalid, the last good version keeps running'],
    )
    await second.stop()
    assert.equal(
      (await readdir(join(first.directory, '.last-good'))).length,
      1,
      'nothing is kept of a file that is gone',
    )
  })

  test('says so when the last good version is of no use either', async (t) => {
    const first = await createSource(t)
    await writeFile(join(first.directory, 'a'), manifest('a'))
    first.start(first.directory)
    await first.settles('a-n=nginx')
    await first.stop()
    const kept = join(first.directory, '.last-good')
    for (const path of [join(first.directory, 'a'), ...(await readdir(kept)).map((name) => join(kept, name))])
      await writeFile(path, 'kind: [')
    const second = new SourceUnderTest(first.directory)
    t.after(() => second.stop())
    second.start(first.directory)
    await second.settles()
    assert.deepEqual(
      second.lines.map(({ message }) => message),
      ['cannot use what was last good of a manifest', 'manifest is invalid'],
    )
  })

  test('says nothing of a manifest that is not written to its end yet', async (t) => {
    const source = await createSource(t)
    source.start(source.directory)
    await source.settles()
    const path = join(source.directory, 'a')
    await writeFile(path, '')
    await systemClock.sleep(50, t.signal)
    await writeFile(path, manifest('a'))
    await source.settles('a-n=nginx')
    assert.deepEqual(source.lines, [])
  })

  test('takes a burst of files in few sets, and decodes each once', async (t) => {
    const source = await createSource(t)
    source.start(source.directory, { checkFrequencyMs: 100 })
    await source.settles()
    const names = Array.from({ length: 100 }, (_, index) => `p${String(index).padStart(3, '0')}`)
    await mkdir(join(source.directory, '.new'))
    for (const name of names) await writeFile(join(source.directory, '.new', name), manifest(name))
    for (const name of names) await rename(join(source.directory, '.new', name), join(source.directory, name))
    await source.settles(...names.map((name) => `${name}-n=nginx`))
    assert.equal(source.decoded, 100)
    assert.ok(source.emissions.length < 30, `${source.emissions.length} emissions`)
    await writeFile(join(source.directory, 'z'), manifest('z'))
    await source.settles(...names.map((name) => `${name}-n=nginx`), 'z-n=nginx')
    assert.ok(source.decoded <= 103, `${source.decoded} decoded`)
  })

  test('names each piece of garbage once and goes on with the rest', async (t) => {
    const source = await createSource(t)
    const at = (name: string) => join(source.directory, name)
    const laughs = ['a: &a [x,x,x,x,x,x,x,x,x]']
    for (const [letter, before] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf', 'hg', 'ih']) {
      laughs.push(`${letter}: &${letter} [${Array.from({ length: 9 }, () => `*${before}`).join(',')}]`)
    }
    await writeFile(at('01-empty'), '')
    await writeFile(at('02-binary'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]))
    await writeFile(at('03-large'), '')
    await truncate(at('03-large'), 50 * 1024 * 1024)
    await writeFile(at('04-laughs'), laughs.join('\n'))
    execFileSync('mkfifo', [at('05-fifo')])
    await symlink('06-loop', at('06-loop'))
    await symlink('nowhere', at('07-dangling'))
    await mkdir(at('08-directory'))
    await writeFile(at('09-kind'), 'apiVersion: v1\nkind: Service\n')
    await writeFile(at('10-unknown'), manifest('unknown', 'nginx', '    imge: x\n'))
    await writeFile(at('11-type'), manifest('type', '5'))
    await writeFile(at('12-first'), manifest('twin'))
    await writeFile(at('13-second'), manifest('twin'))
    await writeFile(at('14-two'), `${manifest('a')}---\napiVersion: apps/v1\nkind: Deployment\n`)
    await symlink('/dev/zero', at('15-device'))
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(at('16-socket'), resolve))
    t.after(() => server.close())

    const before = process.memoryUsage().rss
    source.start(source.directory, { checkFrequencyMs: 20 })
    await source.settles('unknown-n=nginx', 'twin-n=nginx', 'twin-n=nginx')
    // Polls go on meanwhile; they must not repeat a line.
    await writeFile(at('99-last'), manifest('last'))
    await source.settles('unknown-n=nginx', 'twin-n=nginx', 'twin-n=nginx', 'last-n=nginx')
    assert.ok(process.memoryUsage().rss - before < 100 * 1024 * 1024)
    const shown = source.lines.map(({ file, line, column, field, reason, other }) =>
      [file, line && [line, column].join(':'), field, reason, other].filter(Boolean).join(' '),
    )
    assert.deepEqual(shown.sort(), [
      '01-empty 1:1 empty, expected a Pod',
      '02-binary 1:1 binary data, expected YAML or JSON text',
      '03-large 1:1 52428800 bytes, expected at most 10485760',
      '04-laughs 5:11 aliases repeat too much',
      '05-fifo a FIFO',
      '06-loop symbolic links that form a loop',
      '07-dangling a symbolic link to nothing',
      '08-directory a directory',
      `09-kind 2:1 kind expected "Pod", not "Service": apply it to the API instead ("kubectl apply", or the folder of "deckhand up --apply")`,
      '10-unknown 9:5 spec.containers[0].imge unknown field, ignored, did you mean "image"?',
      '11-type 8:5 spec.containers[0].image Invalid value: 5: expected a string',
      '13-second 12-first has a pod of the same name, default/twin-n: only one of them runs',
      `14-two 11:1 kind expected "Pod", not "Deployment": apply it to the API instead ("kubectl apply", or the folder of "deckhand up --apply")`,
      '15-device a device',
      '16-socket a socket',
    ])
  })
})
