/** @type {Record<string, {zh: string, en: string}>} */
const TEXTS = {
  reconnecting: { zh: '重新连接中...', en: 'Reconnecting…' },
  polling: { zh: '网络异常，正在降级同步', en: 'The network is unstable: updating every 30 seconds' },
}

/**
 * What a page says above a run, or null where it need not say anything.
 * @param {import('./index').Connection} connection
 * @param {'zh' | 'en'} [language]
 * @returns {string | null}
 */
export function bannerText(connection, language = 'zh') {
  const text = TEXTS[connection]
  return text ? text[language] : null
}
