"""Texts to cut into pieces, and texts to train a tokenizer on. The story was written for this course."""

STORY = (
    "The old woman lived by the river, and every morning she walked to the market with her basket. The basket was heavy in the summer and "
    "light in the winter. She sold bread, apples and the small brown eggs of her three hens. The money was not much, but it was available "
    "when the rent was due, and she never asked the bank for a loan. Her neighbour the baker had asked. The bank refused, because the "
    "baker had borrowed before and the money was not returned. So the baker walked to the river and sat on the bank, and he watched the "
    "water and thought about the bread that he could not bake. The woman saw him there. Why are you not baking, she asked. Because the "
    "flour is gone and the bank refused the loan, he said. The woman put down her basket. I have money, she said, and I have eggs. You "
    "have an oven. Tomorrow you bake, and I walk to the market with your bread and with my eggs. What we sell, we share. In the morning "
    "the whole street smelled of warm bread. The children walked behind the woman to the market, and the older ones carried the basket. "
    "Before the bells rang again, everything was sold. They counted the money by the river, the baker and the woman, and it was more "
    "than either of them had ever counted alone. The lower street heard the news, then the newest houses by the bridge, and soon the "
    "widest road in the town was the road to the oven. The baker never asked the bank again. The bank asked him. He thought about it, "
    "looked at the water, and refused. The children grew older, and they told the story to their own children: how the bank refused the "
    "loan, how the river carried the flour, how the basket of the old woman fed the whole town. Some of them thought that it was only a "
    "story. But every morning, when the bells rang by the bridge, there was warm bread in the market, and nobody was refused.")
LOW = " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)
READY = {  # title: (text, what to see in it)
    "An English sentence": (
        "The bank refused the loan because the money was not available.",
        "Among byte pairs a space goes with the word after it, so **␣bank** and **bank** are different pieces."),
    "Emoji": (
        "Good 😀 family 👩‍👩‍👧 wave 👍🏽 flag 🇮🇳",
        ("An emoji such as 😀 is one character of four bytes in UTF-8. The family is three emoji with two invisible joiners (U+200D) "
         "between them: five characters, 18 bytes.")),
    "Chinese and Japanese": (
        "你好世界。こんにちは",
        "Each of these characters takes three bytes in UTF-8, and no space separates the words."),
    "Arabic and Hebrew": (
        "سلام שלום",
        ("Each of these letters takes two bytes in UTF-8. The boxes stand in the order in which the text is stored and read, here drawn "
         "from left to right.")),
    "Numbers": (
        "In 2024 it was 1234567890, not 12.5",
        "Runs of digits are cut from letters before training. A number is not one piece unless training saw it often."),
    "Spaces and line breaks": (
        "  two  spaces,\ta tab\nand a   line\n\nbreak ",
        ("White space counts: ␣ is a space, ⇥ a tab, ⏎ a line break. A byte pair joins only the last of several spaces to the word "
         "after it.")),
    "One accent, two ways": (
        "café cafe\u0301",
        ("The first é is one character of two bytes. The second is an e and a combining accent, three bytes. They look alike and get "
         "different ids. Your own text is composed first (NFC), so it holds the short form.")),
    "low, lower, newest, widest": (LOW, "The word list of Sennrich et al. 2016, each word as often as there."),
}
