import { objectList, optionalObject, textList } from '../kinds/collection-kinds.ts'
import { bool, choice, duration, text } from '../kinds/scalar-kinds.ts'

function findNameProblem(name: string): string | undefined {
  const isOk = /^[^/ ]*$/.test(name) && name !== '.' && name !== '..'
  return isOk ? undefined : 'expected the name of a program, without slashes and spaces'
}

function findMatchImageProblem(pattern: string): string | undefined {
  if (pattern.includes('://')) return 'expected a host without a scheme, such as *.registry.example/path'
  const isOk = /^(?:[\w*?.-]+|\[[0-9a-fA-F:]+\])(?::\d+)?(?:\/[^\s?#]*)?$/.test(pattern)
  return isOk ? undefined : 'expected host[:port][/path], such as *.registry.example/path'
}

const ANNOTATION_KEY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

function findAnnotationKeyProblem(key: string, keys: readonly string[]): string | undefined {
  if (!ANNOTATION_KEY.test(key)) return 'expected the key of an annotation'
  return keys.indexOf(key) === keys.lastIndexOf(key) ? undefined : 'expected each key once'
}

const tokenAttributes = optionalObject(
  {
    serviceAccountTokenAudience: text({ default: '', about: 'whom the token is for' }),
    cacheType: choice(['Token', 'ServiceAccount'], { default: undefined, about: 'what a cached answer belongs to' }),
    requireServiceAccount: bool({ default: undefined, keepsZero: true, about: 'leave out pods without an account' }),
    requiredServiceAccountAnnotationKeys: textList({ default: [], item: findAnnotationKeyProblem, about: 'needed' }),
    optionalServiceAccountAnnotationKeys: textList({
      default: [],
      item: findAnnotationKeyProblem,
      about: 'sent if there',
    }),
  },
  { about: 'a token of the pod’s service account, sent to the plugin' },
)

const environment = objectList(
  { name: text({ default: '', about: 'name' }), value: text({ default: '', about: 'value' }) },
  { default: [], about: 'variables added to those of the agent' },
)

/** What every version of a plugin's configuration has. */
export const providerFields = {
  name: text({ default: '', rule: findNameProblem, about: 'name of the program' }),
  matchImages: textList({ default: [], item: findMatchImageProblem, about: 'images that it is asked about' }),
  defaultCacheDuration: duration({
    default: undefined,
    keepsZero: true,
    min: '0s',
    about: 'how long an answer counts that does not say so itself',
  }),
  apiVersion: choice(
    [
      'credentialprovider.kubelet.k8s.io/v1',
      'credentialprovider.kubelet.k8s.io/v1beta1',
      'credentialprovider.kubelet.k8s.io/v1alpha1',
    ],
    { default: undefined, about: 'the form of question and answer' },
  ),
  args: textList({ default: [], about: 'arguments' }),
  env: environment,
}

/** v1 alone has tokens. */
export const providerFieldsV1 = { ...providerFields, tokenAttributes }
