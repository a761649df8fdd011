import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import type { Pki } from './open-pki.ts'
import { ensureOwnCertificate } from './own-certificate.ts'

/** What clients on the machine itself may call it, and the names that pods know it by. */
const OWN_NAMES = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

/** The serving certificate for these names besides the usual ones: the one that is there while it is good, or a new one. */
export async function ensureServingCertificate(
  pki: Pki,
  names: readonly string[],
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<KeyedCertificate> {
  return await ensureOwnCertificate(
    pki,
    {
      file: 'serving.pem',
      commonName: 'deckhand-api',
      organizations: [],
      names: [...OWN_NAMES, ...names],
      usages: ['server'],
    },
    deps,
  )
}
