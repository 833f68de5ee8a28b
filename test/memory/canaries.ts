// Sixty secrets, all made up, as people and tools say them. They stand here backwards: whoever scans this file for keys finds none.

export type Canary = { readonly text: string; readonly secret: string };

const backwards = (text: string): string => [...text].reverse().join("");

/** The words around a secret, and the secret in place of `{}`. */
const rows: readonly (readonly [around: string, reversed: string])[] = [
  ["export AWS_ACCESS_KEY_ID={}", "K7BH32ASJFKMKNLYAIKA"],
  ["aws_secret_access_key = {}", "HrkFCH8qz9Pst+lzJIK/tFmNiROBeUjNPuGk+M4/"],
  ["the other one was {} for the bucket", "cfWYCCuSC3dcx5p43vB0KVlXqu1xEeztYnzoPIPu"],
  ["git clone https://{}@github.com/a/b.git", "PSaI7q6bZPLZe6Vvjsxtso1z2AHKFIyZATuf_phg"],
  ["GITHUB_TOKEN: {}", "Xjhl3gtYv6ldFS9Jb7pdf0hd0liC8nL5PHi2oYke_YDEb6zaU3uxWRyCrs5zOzA_tap_buhtig"],
  ["It uses {} to deploy", "6AyPDD6PRqtTHFHZMfWG-taplg"],
  ["//registry.npmjs.org/:_authToken={}", "Dr6p58MMOVtgpiNPo239sv9CiljHmfvj1V2Q_mpn"],
  ["Slack says {} is revoked", "8spqv5pLVNREtroao0Um0kl7-027597996331-bxox"],
  ["post to https://hooks.slack.com/services/{}", "IYOtX3X9bHkgcpAKEC9wC71C/WFEVZ6OXB/OSWPBS94T"],
  ["stripe: {}", "NqHn4H1Ph8jwnMRWT6mxQLe1_evil_ks"],
  ["stripe hook {}", "99FXGpa6Epe25bNyjL2sk43sC2HrkxTO_ceshw"],
  ["ANTHROPIC_API_KEY={}", "DdJyE9qWoAMlvmL9oXMQlUOvhPOMg8wM1oUI6iFX-30ipa-tna-ks"],
  ['OPENAI_API_KEY="{}"', "X93MxakmKu6OXC16VpNVHHGeJiR4r8a2W0IkPpVQYV1EmtxI-jorp-ks"],
  ["google {} maps", "KGjBr3noEmTX89sN27Boh_Pm9BrPvkQicNEazIA"],
  ['curl -H "Authorization: Bearer {}"', "Rs6IAlO6waHjAYKUwiaUhrhHYUoMYV"],
  ["Authorization: Basic {}", "FYNk1p8zo24gUuMjtYBXg2ne9q0i"],
  ["postgres://app:{}@db:5432/app", "95NgcVh4retnuh"],
  ["redis://:{}@cache:6379", "6k4yzBMMUxsg4EHBAr"],
  ["password: {}", "yrettab-esroh-tcerroc"],
  ['db_password = "{}"', "E0g0tjrod4bu0rT"],
  ["the password is {} as always", "9020hsifdrows"],
  ["PASSPHRASE={}", "jtfvcibuouyznepo"],
  ["client_secret: {}", "pJQj9vQwITKPZRqWuGVwPhqLXKh4xkz6"],
  ["session token = {}", "ded1a42a8fb93965c644a10c69f7e7eb677352a5605ae6483c6c91c8d3dcd744"],
  ["sha key {}", "b4133b8d85d72f260942435880753dcc2c1944ae"],
  ["hmac {}", "6d524aa810d730d5b3bac00203461b2e05047265e280093cf5ea85a18b34fe59"],
  ["md5 secret {}", "3e4ae2a93c5585e8b4cfcbec7c19c866"],
  [
    "jwt {}",
    "8TIqGkRa0vM9ckOE3UtIuRXPgqYc5kn8UMKwuq7neUc.AB71NckHHY9LVsex45sJtAfxjCBNNYF4fuPfyLOUJye.9JiN1IzUIJiOicGbhJye",
  ],
  ["telegram {}", "63jpoqKz7hLohfiz10xSmWBgWJqLJKut9AA:448257835"],
  ["sendgrid {}", "OB7jrib1FtdLYtwY2TLGsPy4sorhRF74etNf4XrCJ3S.4CuhBOWMwAz1iakHWq6oTa.GS"],
  ["mailgun {}", "8af3304f4ccdb31d24affe10c44e9511-yek"],
  ["hugging face {}", "kM8t15DTL1UFjdIRT6PuPTBublshm2hWqS_fh"],
  ["digital ocean {}", "72eb8f111a03a90cb98c15fd426bdf7d8867fb8fc8a216f3dcd5f9f29e898b00_1v_pod"],
  ["shopify {}", "7790663bf6c9502be8f25e172ef2678e_taphs"],
  ["vault {}", "UAAPhWqVHKGaLzs8XGqdKYD9uvrDF4jwKrDrfDz63yQ17kG0zwH0bYF8kDM3.svh"],
  ["docker login -p {}", "GZK9NDkqox2WOxHbBifhsr70hfB_tap_rkcd"],
  ["mysql --password={} app", "tZPECNAjt3rc3S"],
  ["linear {}", "MXt1T8bv7wk6NHfYaSVMKmbC7rJAsSar6PR17Qol_ipa_nil"],
  ["pypi {}", "S38ypd7mB44qSOQw469qAYPiEAh4pFI2nKNqa5nRC99uwZGuQ8cmcv5SawlHcIEgA-ipyp"],
  ["rubygems {}", "e5ec717f58311998c687093b3cceb5fa70d67e5e11aec503_smegybur"],
  ["new relic {}", "1ZP646QFKXD6ROZIX16TX6SFT0F-KARN"],
  ["postman {}", "975c4ceb44697834c8b0e0dcf0f45229b2-d9369e72d7deb2bee1255302-KAMP"],
  ["figma {}", "57AhsKXGMMZqrr0T3LxtiFGw0kE386aMhVHfZtcL_dgif"],
  ["notion {}", "3lCjVlwD5RqPihAifC1A2OAiX2j5Gk7LMjmnbrezcAsVii_ntn"],
  [
    "azure AccountKey={};",
    "==FSu8A1BUwHtGoEhVdsCrYVVZBXp0L7764vmy817XMXHW6H8z2KwTk40CVzcUf976wG5KJJQ1n3CRfa7v0idOOZ",
  ],
  ["sas ?sv=2024&sig={}", "P43MqfdASK0ofIRFDbHqQodLHASfyPuHgd31IXovya2"],
  ["api_key: {}", "diinnfsagkhyhoxeoubh"],
  ['"apiKey": "{}"', "h2wCCbRl05ZLGKfBacnlwliO"],
  ["X-Api-Key: {}", "Ko5SuSKfU8PejVOK3YnGd9ey"],
  ["cookie token={}", "E7JMJ19gf956aMBe7fyJ1cZyerrTy1MGLV0Y9Zye"],
  ["HEROKU_API_KEY={}", "e1df210fa97f-2f46-0e80-007e-2ec888b5"],
  ["just {} in a line", "Nw8GVFF0gGuIg2x5dpwsBTxu"],
  ["and {} too", "yaKSEhfO0XZq3yMno1aPJ0lTZTXL62mm"],
  ["a long one: {}", "nCunKBdugTtFmI1WIhEDTi2h6J0tiooIQm2MdqrwBwsu8djt9JF1E5LNWF1Yxv6g"],
  ["url-safe {}", "mK5DKwuGFOCEydWkDkUv-rStUb9AkQRd9I3uvDCzE"],
  ["under score {}", "8WJyhhKCt9MiZQA3XY_sAcFxgt36KTGezjYZLQV0I"],
  ["my pin is {}", "02094049"],
  ["the secret was {} then", "870edalamram"],
  [
    "-----BEGIN RSA PRIVATE_KEY-----\n{}\nozSsDSU2puFs1lgSS4LHXsKcT8gVahTOJkalNrbA1rWPHHx1XPebz32M9gOebuBs\n-----END RSA PRIVATE_KEY-----",
    "810pDOk1y8UnLBBbxCoBNeS4KVAqm8d6B5FDJZXn9qCP8NmzZNns7XSPBJHeWcZc",
  ],
  [
    "-----BEGIN OPENSSH PRIVATE_KEY-----\n{}\nand it was cut",
    "LovY7yWIgTwvBEYAwxGyRzjgiA2QdJ9Asq3XjzCQTHvDeruCDFoiKI2XtBKg",
  ],
];

export const canaries: readonly Canary[] = rows.map(([around, reversed]) => {
  const secret = backwards(reversed);
  return { secret, text: around.replace("{}", secret).replaceAll("PRIVATE_KEY", "PRIVATE KEY") };
});
