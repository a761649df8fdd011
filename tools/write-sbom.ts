/** Writes dist/sbom.cdx.json: the packages that the programs need at run time, from the lock file, as CycloneDX. The same lock file makes the same text. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockedPackage {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
}

const root = join(import.meta.dirname, '..')
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8')) as unknown
const { name, version } = read('package.json') as { readonly name: string; readonly version: string }
const { packages } = read('package-lock.json') as { readonly packages: Readonly<Record<string, LockedPackage>> }

const components = Object.entries(packages).flatMap(([path, locked]) => {
  if (path === '' || locked.dev === true) return []
  return [toComponent(path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), locked)]
})
const metadata = { component: { type: 'application', name, version, 'bom-ref': `${name}@${version}` } }
const sbom = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components }
writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(sbom, undefined, 2)}\n`)

function toComponent(packageName: string, { version: locked, integrity = '', license }: LockedPackage) {
  const [, algorithm, digest = ''] = /^(sha512)-(\S+)$/.exec(integrity) ?? []
  const content = Buffer.from(digest, 'base64').toString('hex')
  return {
    type: 'library',
    'bom-ref': `${packageName}@${locked}`,
    name: packageName,
    version: locked,
    purl: `pkg:npm/${packageName.replace('@', '%40')}@${locked}`,
    ...(algorithm === undefined ? {} : { hashes: [{ alg: 'SHA-512', content }] }),
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
  }
}
