/** Packages with the names, files and scripts of those of kubernetes.io, around the kubelet that a user brings; and the index that makes a folder of them a source of apt. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { buildDebianPackage } from '../../../tools/package/debian/build-debian-package.ts'
import type { DebianPackage } from '../../../tools/package/debian/build-debian-package.ts'
import { KUBEADM_DROP_IN } from '../../fixtures/kubeadm-files.ts'

export const KUBELET_PACKAGE_VERSION = '1.36.4-1.1'

const unit = `[Unit]
Description=kubelet of kubernetes.io
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
`

// As theirs: an installation enables the unit and does not start it, a removal disables and stops it.
const scripts = {
  postinst: '#!/bin/sh\nif [ "$1" = configure ]; then systemctl preset kubelet.service || :; fi\n',
  prerm:
    '#!/bin/sh\nif [ "$1" = remove ]; then systemctl --no-reload disable kubelet.service || :; systemctl stop kubelet.service || :; fi\n',
  postrm: '#!/bin/sh\nsystemctl daemon-reload || :\n',
}

function describePackages(kubelet: string, architecture: string): readonly DebianPackage[] {
  const common = {
    Version: KUBELET_PACKAGE_VERSION,
    Architecture: architecture,
    Maintainer: 'Nobody <nobody@kubernetes.invalid>',
  }
  const file = (path: string, content: string) => ({ path, mode: 0o644, content })
  return [
    {
      control: { Package: 'kubelet', ...common, Depends: 'iptables, mount, util-linux', Description: 'kubelet' },
      scripts,
      files: [
        { path: '/usr/bin/kubelet', mode: 0o755, copyOf: kubelet },
        file('/usr/lib/systemd/system/kubelet.service', unit),
        file('/etc/default/kubelet', 'KUBELET_EXTRA_ARGS=\n'),
        file('/var/lib/kubelet/.kubelet-keep', ''),
      ],
    },
    {
      control: { Package: 'kubeadm', ...common, Depends: 'kubelet (>= 1.30.0)', Description: 'kubeadm' },
      scripts: {},
      files: [file('/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf', KUBEADM_DROP_IN)],
    },
  ]
}

/** The files of a source of apt by their names. */
export function buildKubernetesSource(
  kubelet: string,
  architecture: string,
  folder: string,
): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>()
  const index = describePackages(kubelet, architecture).map((each) => {
    const path = buildDebianPackage(each, { work: `${folder}/work`, folder, epoch: 0, compression: 'none' })
    const content = readFileSync(path)
    files.set(basename(path), content)
    const fields = {
      ...each.control,
      Filename: `./${basename(path)}`,
      Size: content.length,
      SHA256: createHash('sha256').update(content).digest('hex'),
    }
    return Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join('')
  })
  return files.set('Packages', Buffer.from(index.join('\n')))
}
