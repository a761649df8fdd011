import type { KubeletConfiguration } from '../../model/config/kubelet-configuration.ts'
import { TLS_CIPHER_SUITES, TLS_GROUPS } from '../../model/config/values/tls-names.ts'
import type { TlsSettings } from './run-kubelet-server.ts'

const VERSIONS = {
  '': 'TLSv1.2',
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
} as const
const TLS13 = Object.keys(TLS_CIPHER_SUITES).filter((name) => TLS_CIPHER_SUITES[name] === name)

/** What is configured of TLS, in OpenSSL's names. Suites of TLS 1.3 cannot be chosen: all of them are always there. */
export function toTlsSettings(
  config: Pick<KubeletConfiguration, 'tlsMinVersion' | 'tlsCipherSuites' | 'tlsCurvePreferences'>,
): TlsSettings {
  const { tlsMinVersion, tlsCipherSuites, tlsCurvePreferences } = config
  const older = tlsCipherSuites.filter((name) => !TLS13.includes(name)).map((name) => TLS_CIPHER_SUITES[name] ?? name)
  const groups = tlsCurvePreferences.flatMap((number) => TLS_GROUPS[number] ?? []).join(':')
  // A list without a suite for older versions leaves nothing that they could use.
  const onlyNewest = tlsCipherSuites.length > 0 && older.length === 0
  return {
    minVersion: onlyNewest ? 'TLSv1.3' : VERSIONS[tlsMinVersion],
    ...(older.length === 0 ? {} : { ciphers: [...TLS13, ...older].join(':') }),
    ...(groups === '' ? {} : { groups }),
  }
}
