import type { Json } from '../files/json-value.ts'
import { mapOf } from '../kinds/collection-kinds.ts'
import { parseMultimap } from '../kinds/flag-forms.ts'
import { bool, choice, duration, path, text } from '../kinds/scalar-kinds.ts'

function readTexts(raw: Json): readonly string[] | undefined {
  if (!Array.isArray(raw)) return undefined
  const items: readonly Json[] = raw
  return items.every((item) => typeof item === 'string') ? items : undefined
}

const headers = { type: 'colonSeparatedMultimapStringString', expected: 'expected a list of texts', read: readTexts }

/** Where pods come from and how often they are read. */
export const podSourceFields = {
  staticPodPath: path({
    default: '',
    flag: 'pod-manifest-path',
    about: 'file or folder with the manifests of static pods',
  }),
  fileCheckFrequency: duration({
    default: '20s',
    flag: 'file-check-frequency',
    about: 'time between two full reads of the static pod path',
  }),
  staticPodURL: text({ default: '', flag: 'manifest-url', about: 'URL that serves manifests of static pods' }),
  staticPodURLHeader: mapOf(
    { ...headers, write: (value: readonly string[]) => value },
    {
      default: {},
      flag: 'manifest-url-header',
      about: 'HTTP headers for the manifest URL, as name:value,…; never shown',
      parseFlag: parseMultimap,
      secret: true,
    },
  ),
  httpCheckFrequency: duration({
    default: '20s',
    flag: 'http-check-frequency',
    about: 'time between two requests to the manifest URL',
  }),
  syncFrequency: duration({
    default: '1m',
    flag: 'sync-frequency',
    about: 'longest time between two syncs of a pod',
    rule: (value) => (value > 0 ? undefined : 'expected more than 0s'),
  }),
  configMapAndSecretChangeDetectionStrategy: choice(['Get', 'Cache', 'Watch'], {
    default: 'Watch',
    about: 'how changes of ConfigMaps and Secrets are noticed',
  }),
  runOnce: bool({ default: false, flag: 'runonce', about: 'run the static pods once and exit' }),
}
