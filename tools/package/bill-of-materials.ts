/** What the executable and the container image are made of, in CycloneDX: what the npm package lists, the libraries in Node, and Debian's packages. */
import type { Architecture } from './open-node.ts'

interface Component {
  readonly type: string
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly licenses?: readonly unknown[]
  readonly components?: readonly Component[]
}

interface Bill {
  readonly components: readonly Component[]
}

// By the names that Node gives them. Those of ICU's data are in ICU.
const licencesInNode: Readonly<Record<string, string>> = {
  acorn: 'MIT',
  ada: 'Apache-2.0 OR MIT',
  amaro: 'MIT',
  ares: 'MIT',
  brotli: 'MIT',
  cldr: 'Unicode-3.0',
  icu: 'Unicode-3.0',
  libffi: 'MIT',
  lief: 'Apache-2.0',
  llhttp: 'MIT',
  merve: 'MIT',
  nbytes: 'MIT',
  ncrypto: 'MIT',
  nghttp2: 'MIT',
  nghttp3: 'MIT',
  ngtcp2: 'MIT',
  openssl: 'Apache-2.0',
  simdjson: 'Apache-2.0 OR MIT',
  simdutf: 'Apache-2.0 OR MIT',
  sqlite: 'blessing',
  tz: 'LicenseRef-public-domain',
  undici: 'MIT',
  unicode: 'Unicode-3.0',
  uv: 'MIT',
  uvwasi: 'MIT',
  v8: 'BSD-3-Clause',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause OR GPL-2.0-only',
}
// Of Node itself, and numbers of its interfaces.
const notLibraries = ['node', 'modules', 'napi']

/** The bill of the npm package with the one Node that is in the executable, and what that is made of. */
export function toExecutableBill(
  npmBill: string,
  architecture: Architecture,
  versions: Readonly<Record<string, string | undefined>>,
): string {
  const bill = JSON.parse(npmBill) as Bill
  const components = bill.components
    .filter(({ name }) => !name.startsWith('node-linux-') || name === `node-linux-${architecture}`)
    .map((each) => (each.name.startsWith('node-linux-') ? { ...each, components: librariesOf(versions) } : each))
  return toText({ ...bill, components })
}

function librariesOf(versions: Readonly<Record<string, string | undefined>>): readonly Component[] {
  return Object.entries(versions).flatMap(([name, version = '']) => {
    if (version === '' || notLibraries.includes(name)) return []
    const expression = licencesInNode[name]
    if (expression === undefined)
      throw new Error(`Cannot list what Node is made of: the licence of "${name}" is unknown`)
    return [{ type: 'library', 'bom-ref': `node/${name}@${version}`, name, version, licenses: [{ expression }] }]
  })
}

/** The bill of the executable and the packages of Debian below it, from the status file of dpkg. Their licences are in the image, beside each. */
export function toImageBill(executableBill: string, dpkgStatus: string): string {
  const bill = JSON.parse(executableBill) as Bill
  const field = (paragraph: string, name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? ''
  const packages = dpkgStatus
    .split('\n\n')
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph): Component => {
      const [name, version] = [field(paragraph, 'Package'), field(paragraph, 'Version')]
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${field(paragraph, 'Architecture')}`
      return { type: 'library', 'bom-ref': purl, name, version, purl }
    })
  return toText({ ...bill, components: [...bill.components, ...packages] })
}

function toText(bill: Bill): string {
  return `${JSON.stringify(bill, undefined, 2)}\n`
}
