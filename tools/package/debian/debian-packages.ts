import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { KUBERNETES_VERSION } from '../../../src/model/config/flags/version-flag.ts'
import type { DebianFile, DebianPackage } from './build-debian-package.ts'

interface PackageInput {
  readonly executable: string
  /** As Debian names it. */
  readonly architecture: string
  /** Of this project. */
  readonly version: string
  readonly epoch: number
  /** By the names of their files: manual pages and completions. */
  readonly texts: ReadonlyMap<string, string>
  readonly changes: string
  readonly billOfMaterials: string
  /** Licences of what is in the executable besides our own code. */
  readonly notices: string
}

const REVISION = 1
const MAINTAINER = 'Deckhand maintainers <maintainers@deckhand.invalid>'

// What dpkg-shlibdeps says for the executable, and what the agent runs on every node.
const DEPENDS = [
  'libatomic1 (>= 4.8)',
  'libc6 (>= 2.34)',
  'libgcc-s1 (>= 4.2)',
  'libstdc++6 (>= 10.2)',
  'init-system-helpers (>= 1.60)',
  'iproute2',
  'iptables',
  'mount',
]
// What a standalone node is made of, when it does not use a runtime that is there.
const RECOMMENDS = [
  'busybox-static',
  'catatonit',
  'conntrack',
  'containerd',
  'containernetworking-plugins',
  'nftables',
  'runc | crun',
]

/**
 * Two packages: the executable with the standalone node, and what makes it the kubelet of a machine. Only the second is in the place of the package "kubelet"
 * of kubernetes.io, whose paths, unit and version it has.
 */
export function debianPackages(input: PackageInput): readonly DebianPackage[] {
  const version = `${input.version}-${REVISION}`
  const common = { Version: version, Section: 'admin', Priority: 'optional', Maintainer: MAINTAINER }
  const kubernetes = KUBERNETES_VERSION.slice(1)
  return [
    {
      control: {
        Package: 'deckhand',
        ...common,
        Architecture: input.architecture,
        Depends: DEPENDS.join(', '),
        Recommends: RECOMMENDS.join(', '),
        Suggests: 'deckhand-kubelet, kubernetes-client',
        Description: [
          'Kubernetes node on one machine',
          ' "deckhand up" runs a whole Kubernetes node with an API server of its own,',
          ' which kubectl drives: pods, workloads, services, DNS, policies and storage.',
          ' .',
          ' The same executable is a kubelet for clusters: see deckhand-kubelet.',
        ].join('\n'),
      },
      scripts: readScripts('deckhand', ['postinst', 'prerm', 'postrm']),
      files: [
        { path: '/usr/bin/deckhand', mode: 0o755, copyOf: input.executable },
        text('/usr/lib/systemd/system/deckhand.service', read('deckhand/deckhand.service')),
        text('/etc/default/deckhand', read('deckhand/default')),
        text('/usr/share/doc/deckhand/sbom.cdx.json', input.billOfMaterials),
        ...pageAndCompletion('deckhand', '1', input),
        ...documents('deckhand', input),
      ],
    },
    {
      control: {
        Package: 'deckhand-kubelet',
        ...common,
        Architecture: 'all',
        Depends: `deckhand (= ${version}), init-system-helpers (>= 1.60)`,
        // The plugins came with the kubelet of kubernetes.io: without a package that asks for them, "apt-get autoremove" would take the network of pods away.
        Recommends:
          'containerd | cri-o | docker.io, kubernetes-cni | containernetworking-plugins, conntrack, ethtool, socat',
        Provides: `kubelet (= ${kubernetes})`,
        Conflicts: 'kubelet, kubernetes-node',
        Replaces: 'kubelet, kubernetes-node',
        Description: [
          'Kubernetes node agent, in the place of the kubelet',
          ` Takes the flags, files and unit of the kubelet of Kubernetes ${kubernetes}, and`,
          ' takes over its pods without restarting them. Its configuration has what',
          ' section 4 of the CIS benchmark asks for.',
        ].join('\n'),
      },
      scripts: readScripts('deckhand-kubelet', ['preinst', 'postinst', 'prerm', 'postrm']),
      files: [
        { path: '/usr/bin/kubelet', target: 'deckhand' },
        // Modes as the CIS benchmark asks for.
        text('/usr/lib/systemd/system/kubelet.service', read('deckhand-kubelet/kubelet.service'), 0o600),
        text('/etc/kubernetes/kubelet/config', read('deckhand-kubelet/config.yaml'), 0o600),
        { path: '/etc/kubernetes/kubelet/config.d', mode: 0o755, kind: 'folder' },
        { path: '/etc/kubernetes/manifests', mode: 0o755, kind: 'folder' },
        text('/usr/lib/sysctl.d/90-kubelet.conf', read('deckhand-kubelet/sysctl.conf')),
        ...pageAndCompletion('kubelet', '8', input),
        ...documents('deckhand-kubelet', input),
      ],
    },
  ]
}

function pageAndCompletion(command: string, section: string, { texts }: PackageInput): readonly DebianFile[] {
  const find = (name: string) => texts.get(name) ?? ''
  return [
    packed(`/usr/share/man/man${section}/${command}.${section}.gz`, find(`${command}.${section}`)),
    text(`/usr/share/bash-completion/completions/${command}`, find(`${command}.bash`)),
  ]
}

function documents(name: string, { version, epoch, changes, notices }: PackageInput): readonly DebianFile[] {
  const folder = `/usr/share/doc/${name}`
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  const entry = `deckhand (${version}-${REVISION}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- ${MAINTAINER}  ${date}\n`
  return [
    packed(`${folder}/changelog.gz`, changes),
    packed(`${folder}/changelog.Debian.gz`, entry),
    text(`${folder}/copyright`, COPYRIGHT),
    ...(name === 'deckhand' ? [packed(THIRD_PARTIES, notices)] : []),
    text(`/usr/share/lintian/overrides/${name}`, read(`${name}/lintian-overrides`)),
  ]
}

const THIRD_PARTIES = '/usr/share/doc/deckhand/THIRD-PARTY-LICENSES.txt.gz'
const COPYRIGHT = `Copyright 2026 the authors of Deckhand

Deckhand is licensed under the Apache License, version 2.0: on Debian systems
in /usr/share/common-licenses/Apache-2.0.

The executable contains Node and packages of others. Their licences and notices
are in ${THIRD_PARTIES}.
`

function text(path: string, content: string, mode = 0o644): DebianFile {
  return { path, mode, content }
}

function packed(path: string, content: string): DebianFile {
  return { path, mode: 0o644, content: gzipSync(content, { level: 9 }) }
}

function readScripts(name: string, scripts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(scripts.map((each) => [each, read(`${name}/${each}`)]))
}

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8')
}
